import MediaTypes
import Push
import Testing

@Suite("CombinedInput: an additional input without audio")
struct SilentInputTests {
    /// An input with only video, which counts how often it is read.
    private final class Video: PublishInput {
        let parameters = [FeedCoreTests.record]
        let picture: (width: Int, height: Int, fps: Int)? = nil
        private(set) var reads = 0

        func next() throws(MediaError) -> CodedPacket? {
            self.reads += 1
            return self.reads <= 100 ? FeedCoreTests.picture(Int64(self.reads), isKey: true) : nil
        }
    }

    @Test("an additional input without audio is not read, since reading a repeated file would never end")
    func unread() throws {
        let (main, silent) = (Video(), Video())
        let input = try CombinedInput(main, audio: [silent])
        #expect(try input.next()?.kind == .video)
        #expect(input.parameters.count == 1 && silent.reads == 0)
    }
}
