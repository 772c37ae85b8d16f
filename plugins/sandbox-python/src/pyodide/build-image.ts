// A process that starts Python and writes what its memory is then to the file that it is given. It runs nothing but this package's code.
import { writeBootImage } from "./boot-image.ts";
import { Interpreter } from "./interpreter.ts";
import { pythonFolder } from "./python-folder.ts";

const interpreter = await Interpreter.start(pythonFolder());
writeBootImage(process.argv[2] as string, interpreter.bootImage());
