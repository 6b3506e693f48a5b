/// Times every kernel, and counts its instructions and allocations under callgrind.
struct KernelMeasurement {
    /// Path of the `KernelRunner` program.
    let runner: String
    /// Directory for callgrind's files.
    let work: String
    /// False without valgrind: then only times are measured.
    let countsInstructions: Bool

    /// On some processors glibc copies large blocks with `rep movsb`, which callgrind counts once per byte. With this setting all
    /// processors use the vector loop. Deterministic hashing makes two runs of the process equal.
    static let environment = [
        "GLIBC_TUNABLES": "glibc.cpu.x86_rep_movsb_threshold=2000000000", "SWIFT_DETERMINISTIC_HASHING": "1",
    ]

    func measureAll() throws(BenchError) -> [KernelResult] {
        var results: [KernelResult] = []
        for entry in try self.list() { results.append(try self.measure(entry)) }
        return results
    }

    /// Measures only what the guard needs of one kernel; with `planted`, of its slow variant.
    func count(_ name: String, planted: Bool) throws(BenchError) -> KernelResult {
        guard let entry = try self.list().first(where: { $0.name == name }) else {
            throw BenchError("unknown kernel \(name)")
        }
        var result = KernelResult(
            name: name, unit: entry.unit, unitsPerItem: entry.unitsPerItem, gigaUnitsPerSecond: 0)
        try self.count(entry, into: &result, extra: planted ? ["TANDEM_BENCH_PLANT": "1"] : [:])
        return result
    }

    private struct Entry {
        var name: String
        var unit: String
        var unitsPerItem: Int
        var itemsToCount: Int
        var hasReference: Bool
        /// Media bytes in one item, if their copies are counted; otherwise 0.
        var mediaBytes: Int
    }

    private func list() throws(BenchError) -> [Entry] {
        let text = try ChildProcess.output(of: [self.runner, "list"], scratch: "\(self.work)/kernels.txt")
        return text.split(separator: "\n").compactMap { line in
            let words = line.split(separator: " ")
            guard words.count == 6, let units = Int(words[2]), let items = Int(words[3]),
                let media = Int(words[5])
            else { return nil }
            return Entry(
                name: String(words[0]), unit: String(words[1]), unitsPerItem: units, itemsToCount: items,
                hasReference: words[4] == "reference", mediaBytes: media)
        }
    }

    private func measure(_ entry: Entry) throws(BenchError) -> KernelResult {
        let kernel = try self.nanoseconds(entry.name)
        let reference = entry.hasReference ? try self.nanoseconds(entry.name, "reference") : nil
        var result = KernelResult(
            name: entry.name, unit: entry.unit, unitsPerItem: entry.unitsPerItem,
            gigaUnitsPerSecond: (Double(entry.unitsPerItem) / kernel).rounded(digits: 3),
            timesReference: reference.map { ($0 / kernel).rounded(digits: 2) })
        if self.countsInstructions { try self.count(entry, into: &result) }
        return result
    }

    private func nanoseconds(_ name: String, _ variant: String...) throws(BenchError) -> Double {
        let text = try ChildProcess.output(of: [self.runner, "time", name] + variant, scratch: "\(self.work)/time.txt")
        guard let number = text.split(separator: "\n").first.flatMap({ Double($0) }), number > 0 else {
            throw BenchError("\(name): no time in “\(text)”")
        }
        return number
    }

    /// Compares two runs with different numbers of items, so that the difference does not contain the startup.
    private func count(
        _ entry: Entry, into result: inout KernelResult, extra: [String: String] = [:]
    ) throws(BenchError) {
        let (few, many) = try self.callgrind(
            entry.name, items: (entry.itemsToCount, entry.itemsToCount * 3), extra: extra)
        let items = Double(entry.itemsToCount * 2)
        result.instructionsPerItem = (Double(many.instructions - few.instructions) / items).rounded(digits: 1)
        result.allocationsPerItem = (Double(many.allocations - few.allocations) / items).rounded(digits: 2)
        if entry.mediaBytes > 0, Files.exists("\(self.work)/copies.so") {
            let copied = Double(
                try self.copies(entry.name, items: entry.itemsToCount * 3, extra: extra)
                    - self.copies(entry.name, items: entry.itemsToCount, extra: extra))
            result.copiedPerByte = (copied / items / Double(entry.mediaBytes)).rounded(digits: 3)
        }
    }

    /// Bytes moved by memcpy and memmove, counted by the preloaded `copies.so`.
    private func copies(_ name: String, items: Int, extra: [String: String]) throws(BenchError) -> Int {
        let file = "\(self.work)/copies.txt"
        _ = try ChildProcess.output(
            of: [self.runner, "run", name, String(items)],
            environment: Self.environment.merging(extra) { $1 }.merging([
                "LD_PRELOAD": ChildProcess.path("\(self.work)/copies.so"), "COPIES_FILE": file,
            ]) { $1 }, scratch: "\(self.work)/copies.out")
        return Int(try Files.text(at: file).filter { $0.isNumber }) ?? 0
    }

    /// Counts two runs at the same moment, since other load does not change the counts.
    private func callgrind(
        _ name: String, items: (Int, Int), extra: [String: String]
    ) throws(BenchError) -> (CallgrindProfile, CallgrindProfile) {
        let items = [items.0, items.1]
        // Names that do not depend on the number of items, so that no files pile up.
        let files = ["few", "many"].map { "\(self.work)/callgrind-\($0).out" }
        let usages = try ChildProcess.runTogether(
            zip(items, files).map { items, file in
                (
                    [
                        "valgrind", "-q", "--tool=callgrind", "--callgrind-out-file=\(file)", self.runner, "run", name,
                        String(items),
                    ], Self.environment.merging(extra) { $1 }, "\(file).txt"
                )
            })
        guard usages.allSatisfy({ $0.status == 0 }) else {
            throw BenchError("callgrind failed for \(name) with status \(usages.map(\.status))")
        }
        return (try CallgrindProfile(Files.text(at: files[0])), try CallgrindProfile(Files.text(at: files[1])))
    }
}
