/// What is read from a file of callgrind's.
///
/// Format: valgrind manual, "Callgrind Format Specification": `totals:` ends the file; a function's name stands once as
/// `cfn=(id) name` or `fn=(id) name` and later as `(id)`; `calls=count …` follows the `cfn` line it belongs to.
struct CallgrindProfile {
    private(set) var instructions = 0
    /// Calls of the functions that allocate.
    private(set) var allocations = 0
    /// Instructions by the file they lie in (`libx264.so.164`), those of the C library by the file that called for them.
    private(set) var instructionsByObject: [String: Int] = [:]
    /// Calls of the functions that allocate, by the file that calls.
    private(set) var allocationsByObject: [String: Int] = [:]

    private static let allocators: Set<Substring> = [
        "malloc", "calloc", "realloc", "posix_memalign", "aligned_alloc", "memalign",
    ]

    init(_ text: String) throws(BenchError) {
        var allocatorIDs: Set<Substring> = []
        var callsAllocator = false
        var objects = ObjectNames()
        var (object, called) = ("", "")
        var isEdge = false
        for line in text.split(separator: "\n") {
            if line.hasPrefix("ob=") {
                object = objects.name(line.dropFirst(3))
            } else if line.hasPrefix("cob=") {
                called = objects.name(line.dropFirst(4))
            } else if let digit = line.utf8.first,
                digit == UInt8(ascii: "+") || digit == UInt8(ascii: "-")
                    || digit == UInt8(ascii: "*") || digit >= UInt8(ascii: "0") && digit <= UInt8(ascii: "9")
            {
                // Position and cost; behind `calls=` the cost of the whole call, which counts where it lies.
                let cost = line.split(separator: " ").last.flatMap { Int($0) } ?? 0
                if !isEdge, !ObjectNames.isLibrary(object) {
                    self.instructionsByObject[object, default: 0] += cost
                } else if isEdge, !ObjectNames.isLibrary(object), ObjectNames.isLibrary(called) {
                    self.instructionsByObject[object, default: 0] += cost
                }
                if isEdge { (isEdge, called) = (false, object) }
                continue
            }
            if line.hasPrefix("fn=") { called = object }
            if line.hasPrefix("calls=") { isEdge = true }
            if line.hasPrefix("totals:") {
                self.instructions = Int(line.dropFirst(7).filter { $0 != " " }) ?? 0
            } else if line.hasPrefix("cfn=") || line.hasPrefix("fn=") {
                let words = line[(line.firstIndex(of: "=") ?? line.startIndex)...].dropFirst().split(
                    separator: " ", maxSplits: 1)
                guard let id = words.first else { continue }
                if words.count == 2, Self.allocators.contains(words[1]) { allocatorIDs.insert(id) }
                callsAllocator = line.hasPrefix("cfn=") && allocatorIDs.contains(id)
            } else if callsAllocator, line.hasPrefix("calls=") {
                let calls = line.dropFirst(6).split(separator: " ").first.flatMap { Int($0) } ?? 0
                self.allocations += calls
                self.allocationsByObject[object, default: 0] += calls
            }
        }
        guard self.instructions > 0 else { throw BenchError("callgrind wrote no totals") }
    }
}

/// Callgrind writes a name once, as `(id) name`, and `(id)` from then on.
private struct ObjectNames {
    private var names: [Substring: String] = [:]

    /// The file's name without its directory.
    mutating func name(_ text: Substring) -> String {
        let words = text.split(separator: " ", maxSplits: 1)
        guard let id = words.first else { return "" }
        if words.count == 2 { self.names[id] = words[1].split(separator: "/").last.map { String($0) } ?? "" }
        return self.names[id] ?? ""
    }

    /// The C library works for whoever calls it.
    static func isLibrary(_ object: String) -> Bool {
        ["libc.so", "libm.so", "libpthread", "ld-linux", "libc-2"].contains { object.hasPrefix($0) }
    }
}
