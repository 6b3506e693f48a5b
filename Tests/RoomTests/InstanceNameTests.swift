import Room
import Testing

@Suite("What a worker is called in log lines")
struct InstanceNameTests {
    private static func name(_ variables: [String: String]) -> String {
        InstanceName.of(variable: { variables[$0] }, host: "box", process: 42)
    }

    @Test("as Kubernetes calls it, then systemd, then by its machine and process")
    func order() {
        #expect(Self.name(["POD_NAME": "room-7-x2", "INVOCATION_ID": "ab"]) == "room-7-x2")
        #expect(Self.name(["POD_NAME": "", "INVOCATION_ID": "ab"]) == "ab")
        #expect(Self.name([:]) == "box:42")
        #expect(Self.name(["POD_NAME": String(repeating: "a", count: 1_000)]).count == 128)
        #expect(!InstanceName.ofThisProcess.isEmpty)
    }
}
