import Manifest
import PipelineSpec
import Testing

@Suite("Manifests of rooms with WebRTC publishers")
struct WebRTCManifestTests {
    private static func room(_ webRTC: String, http: Int = 8080) -> String {
        """
        { "room": { "roomId": "88231" }, "ingest": { "webrtc": \(webRTC) },
          "sources": [{ "uid": "1001", "streamKey": "hunter2a" }],
          "scenes": [{ "sceneId": "solo", "layout": "solo", "uids": ["1001"] }],
          "outputs": [{ "path": "out/88231", "http": { "listen": "0.0.0.0:\(http)" } }] }
        """
    }

    private static func text(_ room: String, for name: String) throws -> String {
        let request = try Rooms.request(room)
        let files = try #require(Rooms.engines.first { $0.name == name }).files
        return files(request).map(\.text).joined()
    }

    @Test(
        "in a Kubernetes pod, WebRTC publishers get the node's address, and the WHIP port, UDP port and TCP port are host ports"
    )
    func pod() throws {
        let text = try Self.text(Self.room(#"{ "udp": "127.0.0.1:0" }"#), for: "k8s")
        #expect(text.contains("{name: NODE_IP, valueFrom: {fieldRef: {fieldPath: status.hostIP}}}"))
        #expect(text.contains("{name: whip, containerPort: 8889, hostPort: 8889}"))
        #expect(text.contains("{name: webrtc, containerPort: 8189, hostPort: 8189, protocol: UDP}"))
        #expect(text.contains("{name: icetcp, containerPort: 8189, hostPort: 8189}"))
        #expect(text.contains(#""publicAddressesEnv": "NODE_IP""#) && text.contains(#""udp": "0.0.0.0:8189""#))
        #expect(!text.contains("key: node-ip"), "it is no secret")
    }

    @Test(
        "a pipeline that names a public address or a UDP address for WebRTC keeps it in the manifest, and gets no publicAddressesEnv",
        arguments: ["k8s", "nomad"])
    func written(engine: String) throws {
        let text = try Self.text(Self.room(#"{ "publicAddresses": ["192.0.2.1"] }"#), for: engine)
        #expect(text.contains("192.0.2.1") && !text.contains("publicAddressesEnv") && !text.contains("NODE_IP"))
        let bound = try Self.text(Self.room(#"{ "udp": "192.0.2.1:7000" }"#), for: engine)
        #expect(bound.contains("192.0.2.1:7000") && !bound.contains("publicAddressesEnv"))
    }

    @Test("the pipeline's publicAddressesEnv stays in the manifest, and a note there says to set the variable")
    func ownVariable() throws {
        let text = try Self.text(Self.room(#"{ "publicAddressesEnv": "EDGE_IPS" }"#), for: "k8s")
        #expect(text.contains(#""publicAddressesEnv": "EDGE_IPS""#) && !text.contains("NODE_IP"))
        #expect(text.contains("ingest.webrtc.publicAddressesEnv: set the variable EDGE_IPS of the room"))
    }

    @Test("the manifest does not publish the TCP port of the WebRTC UDP port's number if another listener has it")
    func samePort() throws {
        let text = try Self.text(
            Self.room(#"{ "publicAddresses": ["192.0.2.1"], "udp": "0.0.0.0:8090" }"#, http: 8090), for: "k8s")
        #expect(!text.contains("name: icetcp") && text.contains("hostPort: 8090, protocol: UDP"))
    }

    @Test(
        "in Kubernetes the UDP port of WebRTC viewers is a host port, and so is the TCP port of its number if no listener has it"
    )
    func viewers() throws {
        func room(http: Int) -> String {
            """
            { "room": { "roomId": "88231" }, "sources": [{ "uid": "1001", "streamKey": "hunter2a" }],
              "scenes": [{ "sceneId": "solo", "layout": "solo", "uids": ["1001"] }],
              "outputs": [{ "path": "out/88231", "http": { "listen": "0.0.0.0:\(http)" } },
                          { "type": "webrtc", "udp": "0.0.0.0:8190", "publicAddresses": ["192.0.2.1"] }] }
            """
        }
        let both = try Self.text(room(http: 8080), for: "k8s")
        #expect(both.contains("{name: whep, containerPort: 8190, hostPort: 8190, protocol: UDP}"))
        #expect(both.contains("{name: wheptcp, containerPort: 8190, hostPort: 8190}"))
        let one = try Self.text(room(http: 8190), for: "k8s")
        #expect(one.contains("hostPort: 8190, protocol: UDP") && !one.contains("name: wheptcp"))
    }

    @Test("a Nomad job reserves the port number of WebRTC once, and publicAddressesEnv names Nomad's variable")
    func nomad() throws {
        let text = try Self.text(Self.room(#"{ "udp": "127.0.0.1:0" }"#), for: "nomad")
        #expect(text.contains(#""publicAddressesEnv": "NOMAD_IP_webrtc""#) && text.contains("port \"webrtc\" {"))
        #expect(text.components(separatedBy: "static = 8189").count == 2)
    }

    @Test(
        "in manifests for Swarm and systemd, a note says to list ingest.webrtc.publicAddresses",
        arguments: ["swarm", "systemd"])
    func notes(engine: String) throws {
        let text = try Self.text(Self.room(#"{ "udp": "127.0.0.1:0" }"#), for: engine)
        #expect(text.contains("ingest.webrtc.publicAddresses: list the addresses of the machine"))
    }
}
