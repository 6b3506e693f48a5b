import FuzzCases
import Glibc
import Testing

@Suite("Untrusted bytes: the corpus of every fuzz case, and seeded mutations of it")
struct CorpusTests {
    static let names = FuzzCases.all.map(\.name)

    /// Number of mutated inputs per case; `TANDEM_FUZZ_CASES` sets another.
    static let changes = getenv("TANDEM_FUZZ_CASES").flatMap { Int(String(cString: $0)) } ?? 400

    static func entry(_ name: String) throws -> FuzzCase {
        try #require(FuzzCases.all.first { $0.name == name }, "no case \(name)")
    }

    static func corpus(_ name: String) -> [(name: String, bytes: [UInt8])] {
        let folder = "\(FuzzFiles.tests)/Fuzz/Corpus/\(name)"
        return FuzzFiles.names(folder).map { ($0, FuzzFiles.bytes("\(folder)/\($0)")) }
    }

    @Test("no input of a fuzz case's corpus, past crashes included, breaks the case's invariants", arguments: names)
    func corpus(name: String) throws {
        let entry = try Self.entry(name)
        let inputs = Self.corpus(name)
        #expect(inputs.count >= 10, "the corpus of \(name) is missing")
        for input in inputs {
            let broken = entry.run(input.bytes)
            #expect(broken == nil, "\(name)/\(input.name)")
        }
    }

    @Test("no seed input of a fuzz case breaks its invariants", arguments: names)
    func seeds(name: String) throws {
        let entry = try Self.entry(name)
        let seeds = entry.seeds()
        #expect(seeds.count >= 10, "\(name) has lost its seeds")
        for seed in seeds {
            let broken = entry.run(seed.bytes)
            #expect(broken == nil, "\(name)/\(seed.name)")
        }
    }

    @Test(
        "no pseudorandom mutation of a fuzz case's corpus or seeds breaks its invariants or takes 2 s of CPU",
        arguments: names)
    func changes(name: String) throws {
        let entry = try Self.entry(name)
        let inputs = (Self.corpus(name) + entry.seeds()).filter { $0.bytes.count <= entry.longest }
        try #require(!inputs.isEmpty)
        for number in 0..<Self.changes {
            let bytes = FuzzMutator.changed(inputs.map(\.bytes), number: UInt64(number), entry)
            let start = Self.processorTime()
            let broken = entry.run(bytes)
            #expect(broken == nil, "\(name), change \(number)")
            // Hundreds of times the slowest measured: no input may keep a thread busy.
            #expect(Self.processorTime() - start < 2_000_000_000, "\(name), change \(number): slow")
        }
    }

    /// CPU time of this thread in nanoseconds.
    private static func processorTime() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}
