import MediaTypes
import NIOCore
import Synchronization

/// Content that records when a playlist was last requested, to tell whether the room has viewers.
final class ViewerActivity: OriginContent {
    private let content: any OriginContent
    /// Time of the last playlist request in nanoseconds of the system's monotonic clock; 0 before the first.
    private let lastList = Atomic<UInt64>(0)

    init(_ content: any OriginContent) { self.content = content }

    /// Nanoseconds since the last playlist request; `nil` before the first.
    var sinceList: Int64? {
        let last = self.lastList.load(ordering: .relaxed)
        guard last != 0 else { return nil }
        return Int64(clamping: NIODeadline.now().uptimeNanoseconds &- last)
    }

    func answer(to request: OriginRequest, _ answer: @escaping @Sendable (OriginAnswer) -> Void) {
        if request.path.hasSuffix(".m3u8") {
            self.lastList.store(NIODeadline.now().uptimeNanoseconds, ordering: .relaxed)
        }
        self.content.answer(to: request, answer)
    }

    var ended: Bool { self.content.ended }
    func expire() { self.content.expire() }
    func close() { self.content.close() }
}
