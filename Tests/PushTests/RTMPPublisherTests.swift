import Dispatch
import MediaTypes
import Push
import Testing

@Suite("Publishing as an encoder does", .timeLimit(.minutes(1)))
struct RTMPPublisherTests {
    /// Has no packet.
    private final class Nothing: PublishInput {
        let parameters: [CodecParameters] = []
        let picture: (width: Int, height: Int, fps: Int)? = nil

        func next() throws(MediaError) -> CodedPacket? { nil }
    }

    @Test("a server that takes the connection and says nothing is left as soon as that is wished")
    func mute() async throws {
        let server = try await PushServer.start(isMute: true)
        let url = "rtmp://127.0.0.1:\(server.port)/live/key"
        let publisher = RTMPPublisher()
        publisher.stop()
        let hasFailed = await withCheckedContinuation { (continuation: CheckedContinuation<Bool, Never>) in
            DispatchQueue(label: "publish").async {
                do throws(RTMPPublisher.Failure) {
                    try publisher.run(url: url, duration: nil) { () throws(MediaError) -> any PublishInput in
                        Nothing()
                    }
                    continuation.resume(returning: false)
                } catch {
                    continuation.resume(returning: true)
                }
            }
        }
        #expect(!hasFailed, "whoever stops it knows")
        await server.stop()
    }
}
