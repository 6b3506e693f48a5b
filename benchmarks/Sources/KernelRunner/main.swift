// Runs single kernels. A small program without Foundation, so that it starts fast under callgrind.
//
//   KernelRunner list                        prints one line each: name, unit, units per item, items to count, whether there is a
//                                            reference, media bytes whose copies are counted
//   KernelRunner run NAME ITEMS [reference]  processes ITEMS items, for callgrind
//   KernelRunner time NAME [reference]       prints nanoseconds per item, the best of several batches
//
// With TANDEM_BENCH_PLANT set, `annexb-walk` is replaced by its plain reference loop and `ingest-path` copies once more:
// deliberate slowdowns that test the guard.
import BenchCases
import KernelSuite

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// Prints a line to standard error and exits: 64 for wrong arguments, 1 for a wrong result.
func fail(_ line: String, status: Int32 = 64) -> Never {
    let text = line + "\n"
    _ = text.utf8.withContiguousStorageIfAvailable { write(STDERR_FILENO, $0.baseAddress, $0.count) }
    exit(status)
}

/// CPU time of this process, which depends less on other load than wall time.
func cpuNanoseconds() -> Int {
    var time = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return Int(time.tv_sec) * 1_000_000_000 + Int(time.tv_nsec)
}

/// The best of nine batches of at least 20 ms, which other load affects least.
func bestNanosecondsPerItem(_ body: (Int) -> UInt64) -> Double {
    var items = 1
    var sink: UInt64 = 0
    while true {
        let start = cpuNanoseconds()
        sink &+= body(items)
        if cpuNanoseconds() - start > 20_000_000 { break }
        items *= 2
        if items > 1 << 40 { fail("the kernel does nothing", status: 1) }
    }
    var best = Double.infinity
    for _ in 0..<9 {
        let start = cpuNanoseconds()
        sink &+= body(items)
        best = min(best, Double(cpuNanoseconds() - start) / Double(items))
    }
    // A use that the optimizer cannot remove.
    if sink == 0x5EED { print("") }
    return best
}

let arguments = CommandLine.arguments.dropFirst()
if arguments.first == "list" {
    for kernel in KernelSuite.all {
        print(
            kernel.name, kernel.unit, kernel.unitsPerItem, kernel.itemsToCount, kernel.hasReference ? "reference" : "-",
            kernel.mediaBytes)
    }
    exit(0)
}
guard arguments.count >= 2, let kernel = KernelSuite.all.first(where: { $0.name == arguments.dropFirst().first }) else {
    fail("usage: KernelRunner list | run NAME ITEMS [reference] | time NAME [reference]")
}
let work = kernel.prepare()
let isPlanted = getenv("TANDEM_BENCH_PLANT") != nil && ["annexb-walk", "ingest-path"].contains(kernel.name)
let body = arguments.last == "reference" || isPlanted ? work.reference : work.kernel

switch arguments.first {
case "run":
    guard let items = arguments.dropFirst(2).first.flatMap({ Int($0) }) else { fail("ITEMS is not a number") }
    print(body(items))
case "time":
    guard work.agrees() else {
        fail("\(kernel.name): the kernel and its reference disagree", status: 1)
    }
    print(bestNanosecondsPerItem(body))
default:
    fail("unknown command")
}
