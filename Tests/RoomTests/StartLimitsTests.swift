import MediaTypes
import Room
import Testing

@Suite("Limits of open files and memory, checked at start")
struct StartLimitsTests {
    private static let need = ProcessLimits.Need.room(cores: 2, memory: 300 << 20)

    private static func made(
        openFiles: Int64? = 1_024, addressSpace: Int64? = nil, data: Int64? = nil, group: Int64? = nil
    ) -> ProcessLimits {
        var limits = ProcessLimits()
        limits.openFiles = openFiles
        limits.mapped = 400 << 20
        limits.addressSpace = addressSpace.map { $0 << 20 }
        limits.data = data.map { $0 << 20 }
        limits.group = group.map { $0 << 20 }
        return limits
    }

    /// Limits, memory in MiB, and the words that the error must contain; empty: the room may start.
    @Test(
        "a limit of open files or memory that is too low refuses the start, with its value and the value needed",
        arguments: [
            (Self.made(), []),
            (Self.made(openFiles: nil), []),
            (Self.made(openFiles: 24), ["ulimit -n", "RLIMIT_NOFILE", "is 24", "64"]),
            (Self.made(openFiles: 63), ["RLIMIT_NOFILE"]),
            (Self.made(openFiles: 64), []),
            (Self.made(addressSpace: 400), ["ulimit -v", "RLIMIT_AS", "is 400 MiB", "764 MiB"]),
            (Self.made(addressSpace: 764), []),
            (Self.made(data: 200), ["ulimit -d", "RLIMIT_DATA", "is 200 MiB", "428 MiB"]),
            (Self.made(data: 428), []),
            (Self.made(group: 100), ["memory.max", "is 100 MiB", "150 MiB"]),
            (Self.made(group: 150), []),
        ])
    func limits(limits: ProcessLimits, words: [String]) {
        let refusal = limits.refusal(Self.need)
        #expect((refusal == nil) == words.isEmpty)
        #expect(refusal.map { $0.code == .unavailable && !$0.fix.isEmpty } ?? true)
        for word in words { #expect(refusal?.what.contains(word) == true, "\(refusal.map { "\($0)" } ?? "none")") }
    }

    @Test("a client command needs fewer files than a room, and its memory is not checked")
    func client() {
        var limits = ProcessLimits()
        (limits.openFiles, limits.addressSpace) = (28, 1 << 20)
        #expect(limits.refusal(.client(cores: 2)) == nil)
        limits.openFiles = 27
        #expect(limits.refusal(.client(cores: 2))?.what.contains("this command needs at least 28") == true)
    }

    @Test("the paths of a cgroup's memory limit are those of version 1 or 2; a limit of `max` or a huge number is none")
    func groups() {
        #expect(
            ProcessLimits.groupPlaces(membership: "0::/kubepods/pod1\n") == [
                "/sys/fs/cgroup/kubepods/pod1/memory.max", "/sys/fs/cgroup/memory.max",
            ])
        #expect(
            ProcessLimits.groupPlaces(membership: "5:cpu,cpuacct:/a\n4:memory:/b\n1:name=systemd:/c\n") == [
                "/sys/fs/cgroup/memory/b/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.limit_in_bytes",
            ])
        #expect(ProcessLimits.groupPlaces(membership: "0::/../x\nnonsense\n").isEmpty)
        #expect(ProcessLimits.groupLimit("268435456\n") == 268_435_456)
        for text in ["max\n", "", "9223372036854771712\n", "-1"] { #expect(ProcessLimits.groupLimit(text) == nil) }
    }
}
