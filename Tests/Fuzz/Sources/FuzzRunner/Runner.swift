import CLibFuzzer
import FuzzCases
import Glibc

/// Runs libFuzzer on one case: `FUZZ_CASE=session FuzzRunner CORPUS -max_total_time=60 …`.
///
/// With `FUZZ_SEEDS=FOLDER` it writes the seeds of the case there and exits.
@main
struct Runner {
    static func main() {
        let name = getenv("FUZZ_CASE").map { String(cString: $0) } ?? ""
        guard let found = FuzzCases.all.first(where: { $0.name == name }) else {
            print("FUZZ_CASE is one of \(FuzzCases.all.map(\.name).joined(separator: " "))")
            exit(64)
        }
        chosen = found
        if let folder = getenv("FUZZ_SEEDS").map({ String(cString: $0) }) {
            for seed in found.seeds() where !seed.bytes.isEmpty {
                guard let file = fopen("\(folder)/seed-\(seed.name)", "wb") else { exit(73) }
                _ = fwrite(seed.bytes, 1, seed.bytes.count, file)
                fclose(file)
            }
            return
        }
        var count = CommandLine.argc
        var arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = CommandLine.unsafeArgv
        exit(
            LLVMFuzzerRunDriver(&count, &arguments) { data, size in
                let bytes = Array(UnsafeBufferPointer(start: data, count: size))
                if bytes.count > chosen.longest { return -1 }
                if let broken = chosen.run(bytes) { fatalError(broken) }
                return 0
            })
    }
}

nonisolated(unsafe) private var chosen = FuzzCases.all[0]
// Written once by `main`, before libFuzzer calls anything; libFuzzer has one thread.

/// Mutates an input by its meaning, if the case can, or by bytes, with equal probability.
@_cdecl("LLVMFuzzerCustomMutator")
public func customMutator(_ data: UnsafeMutablePointer<UInt8>, _ size: Int, _ most: Int, _ seed: CUnsignedInt) -> Int {
    guard let mutate = chosen.mutate, seed & 1 == 0 else { return LLVMFuzzerMutate(data, size, most) }
    let out = mutate(Array(UnsafeBufferPointer(start: data, count: size)), UInt64(seed)).prefix(most)
    guard !out.isEmpty else { return LLVMFuzzerMutate(data, size, most) }
    for (index, byte) in out.enumerated() { data[index] = byte }
    return out.count
}
