import Room
import Testing

@Suite("A worker's instance name in log lines")
struct InstanceNameTests {
    private static func name(_ variables: [String: String]) -> String {
        InstanceName.of(variable: { variables[$0] }, host: "box", process: 42)
    }

    @Test("the instance name is POD_NAME, else systemd's INVOCATION_ID, else HOST:PID; it is cut at 128 characters")
    func order() {
        #expect(Self.name(["POD_NAME": "room-7-x2", "INVOCATION_ID": "ab"]) == "room-7-x2")
        #expect(Self.name(["POD_NAME": "", "INVOCATION_ID": "ab"]) == "ab")
        #expect(Self.name([:]) == "box:42")
        #expect(Self.name(["POD_NAME": String(repeating: "a", count: 1_000)]).count == 128)
        #expect(!InstanceName.ofThisProcess.isEmpty)
    }
}
