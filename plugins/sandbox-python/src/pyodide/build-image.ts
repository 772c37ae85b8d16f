// Process that starts Python and writes its memory to the given file. It runs only this package's code.
import { writeBootImage } from "./boot-image.ts";
import { Interpreter } from "./interpreter.ts";
import { pythonFolder } from "./python-folder.ts";

const interpreter = await Interpreter.start(pythonFolder());
writeBootImage(process.argv[2] as string, interpreter.bootImage());
