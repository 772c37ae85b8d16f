import { environmentContract } from "@mrlm/testing";
import plugin from "../orders.ts";

// The contract runs in process and over gRPC.
environmentContract({ plugins: [plugin], environment: "orders" });
