/// The data read from a callgrind file.
///
/// Format: valgrind manual, "Callgrind Format Specification": `totals:` ends the file; a function's name appears once as
/// `cfn=(id) name` or `fn=(id) name` and later as `(id)`; `calls=count …` follows the `cfn` line it belongs to.
struct CallgrindProfile {
    private(set) var instructions = 0
    /// Number of calls of allocation functions.
    private(set) var allocations = 0

    private static let allocators: Set<Substring> = [
        "malloc", "calloc", "realloc", "posix_memalign", "aligned_alloc", "memalign",
    ]

    init(_ text: String) throws(BenchError) {
        var allocatorIDs: Set<Substring> = []
        var callsAllocator = false
        for line in text.split(separator: "\n") {
            if line.hasPrefix("totals:") {
                self.instructions = Int(line.dropFirst(7).filter { $0 != " " }) ?? 0
            } else if line.hasPrefix("cfn=") || line.hasPrefix("fn=") {
                let words = line[(line.firstIndex(of: "=") ?? line.startIndex)...].dropFirst().split(
                    separator: " ", maxSplits: 1)
                guard let id = words.first else { continue }
                if words.count == 2, Self.allocators.contains(words[1]) { allocatorIDs.insert(id) }
                callsAllocator = line.hasPrefix("cfn=") && allocatorIDs.contains(id)
            } else if callsAllocator, line.hasPrefix("calls=") {
                self.allocations += line.dropFirst(6).split(separator: " ").first.flatMap { Int($0) } ?? 0
            }
        }
        guard self.instructions > 0 else { throw BenchError("callgrind's file has no totals") }
    }
}
