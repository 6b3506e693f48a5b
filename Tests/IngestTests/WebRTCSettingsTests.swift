import Ingest
import MediaTypes
import Testing

@Suite("Public addresses of WebRTC: pipeline and environment")
struct WebRTCSettingsTests {
    private static func addresses(_ written: [String], _ value: String?) throws(MediaError) -> [String] {
        try WebRTCSettings.publicAddresses(written, variable: "NODE_IP") { $0 == "NODE_IP" ? value : nil }
    }

    @Test("public addresses of the environment variable follow those of the pipeline, each once, at most 16 in total")
    func all() throws {
        #expect(
            try Self.addresses(["192.0.2.1"], "198.51.100.7, 2001:db8::1,192.0.2.1,") == [
                "192.0.2.1", "198.51.100.7", "2001:db8::1",
            ])
        #expect(try WebRTCSettings.publicAddresses(["192.0.2.1"], variable: nil) { _ in "x" } == ["192.0.2.1"])
        let many = (0..<100).map { "10.0.0.\($0 + 1)" }.joined(separator: ",")
        #expect(try Self.addresses([], many).count == WebRTCSettings.mostAddresses)
    }

    @Test(
        "an environment variable for public addresses that is unset, empty or has an invalid address is refused",
        arguments: [nil, "", " , ", "node7", "0.0.0.0", "1.2.3.4,x"])
    func refused(value: String?) {
        let error = #expect(throws: MediaError.self) { try Self.addresses(["192.0.2.1"], value) }
        #expect(error?.description.contains("NODE_IP") == true && error?.description.contains("node7") == false)
    }
}
