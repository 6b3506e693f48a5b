import Dispatch
import MediaTypes
import Push
import RTMP
import TestSupport
import Testing

@Suite("RTMPPublisher: publishing like an encoder", .timeLimit(.minutes(1)))
struct RTMPPublisherTests {
    /// An input without packets.
    private final class Nothing: PublishInput {
        let parameters: [CodecParameters] = []
        let picture: (width: Int, height: Int, fps: Int)? = nil

        func next() throws(MediaError) -> CodedPacket? { nil }
    }

    /// An input with a frame, and another an hour later.
    private final class Sparse: PublishInput {
        let parameters = [FeedCoreTests.record]
        let picture: (width: Int, height: Int, fps: Int)? = nil
        private var seconds: Int64 = 0

        func next() throws(MediaError) -> CodedPacket? {
            defer { self.seconds += 3_600 }
            return FeedCoreTests.picture(25 * self.seconds, isKey: true)
        }
    }

    @Test("a publisher that is stopped before it connects to a silent server ends, without a failure")
    func mute() async throws {
        let server = try await PushServer.start(isMute: true)
        let url = "rtmp://127.0.0.1:\(server.port)/live/key"
        let publisher = RTMPPublisher()
        publisher.stop()
        let hasFailed = await Self.hasFailed(publisher, url) { Nothing() }
        #expect(!hasFailed, "the caller that stops it knows")
        await server.stop()
    }

    @Test("stop() ends a publisher at once although its next frame is due in an hour")
    func gap() async throws {
        let server = try await PushServer.start()
        let url = "rtmp://127.0.0.1:\(server.port)/live/key"
        let publisher = RTMPPublisher()
        async let end = Self.hasFailed(publisher, url) { Sparse() }
        // The sequence header, and the frame before the gap.
        try await waitUntil("two messages", { server.seen.media.count }) { $0 >= 2 }
        #expect(server.seen.media.count == 2)
        publisher.stop()
        let hasFailed = await end
        #expect(!hasFailed)
        await server.stop()
    }

    @Test(
        "the remedy for a refusal is a room that runs if the room has ended, none if the text has one, app and key if it is unknown"
    )
    func remedies() {
        #expect(RTMPPublisher.remedy(for: PublishRefusal.ended.text) == "publish to a room that runs")
        #expect(RTMPPublisher.remedy(for: "go away") == "check the app and the stream key")
        // These texts say themselves what to do.
        for refusal in [
            PublishRefusal.denied, .expired, .tooOften, .quarantined, .handedOver, .unsupportedCodec("VP6"),
        ] {
            #expect(RTMPPublisher.remedy(for: refusal.text) == nil, "\(refusal.text)")
        }
    }

    /// Publishes on a thread of its own until it ends.
    private static func hasFailed(
        _ publisher: RTMPPublisher, _ url: String, _ make: @escaping @Sendable () -> any PublishInput
    ) async -> Bool {
        await withCheckedContinuation { (continuation: CheckedContinuation<Bool, Never>) in
            DispatchQueue(label: "publish").async {
                do throws(RTMPPublisher.Failure) {
                    try publisher.run(url: url, duration: nil) { () throws(MediaError) -> any PublishInput in make() }
                    continuation.resume(returning: false)
                } catch {
                    continuation.resume(returning: true)
                }
            }
        }
    }
}
