import Dispatch
import LibAV
import MediaTypes
import Synchronization
import Threading

/// A hardware encoder on a thread of its own, whose callers wait for it for a limited time only: a driver or a device
/// can block a call without end.
///
/// States: idle → busy (a call runs) → idle; busy → abandoned, when a call exceeds its time. The thread of an abandoned
/// encoder, and the encoder itself, are released when the blocked call returns, which may be never.
final class DeadlineEncoder: FrameEncoder {
    /// Longest times of calls, in milliseconds.
    struct Limits: Sendable {
        /// Longest time to open the encoder: drivers load firmware and compile kernels.
        var open = 10_000
        /// Longest time of a call for one frame, or for the rest of the frames at the end. The queue before a live encoder
        /// holds as many frames as 30 frames per second have in this time.
        var call = 500

        /// Limits for encoders that are opened while frames wait. Both times together are less than the queues before a
        /// live encoder hold.
        static let running = Limits(open: 1_500)
    }

    /// Number of waits into which the time of a call is divided. If the whole process is stopped during a call, the
    /// encoder still has the remaining waits.
    private static let waits = 5

    private enum Job: Sendable {
        case encode(Picture, pts: Int64, forceIDR: Bool, forceP: Bool)
        case finish
    }

    private struct Answer: Sendable {
        var packets: [CodedPacket] = []
        var error: MediaError?
    }

    /// The state that both threads use.
    private final class Shared: Sendable {
        struct State {
            var job: Job?
            var answer: Answer?
            var isEnded = false
        }

        let state = Mutex(State())
        let given = DispatchSemaphore(value: 0)
        let answered = DispatchSemaphore(value: 0)
        let opening = Mutex<Result<[UInt8], MediaError>?>(nil)
        let opened = DispatchSemaphore(value: 0)

        func report(_ result: Result<[UInt8], MediaError>) {
            self.opening.withLock { $0 = result }
            self.opened.signal()
        }
    }

    private let shared: Shared
    private let encoders: LadderEncoders
    private let limits: Limits
    private let place: String
    private var isAbandoned = false
    let parameterSets: [UInt8]

    private init(
        _ shared: Shared, _ encoders: LadderEncoders, _ limits: Limits, parameterSets: [UInt8], place: String
    ) {
        (self.shared, self.encoders, self.limits) = (shared, encoders, limits)
        (self.parameterSets, self.place) = (parameterSets, place)
    }

    /// Ends the thread when its call has returned.
    deinit { Self.end(self.shared) }

    /// Opens the encoder on a new thread.
    ///
    /// - Throws: The error of the encoder; ``MediaError/Code/unavailable`` if it is not open in time.
    static func open(
        _ settings: VideoEncoderSettings, by encoders: LadderEncoders, limits: Limits = Limits(), place: String
    ) throws(MediaError) -> DeadlineEncoder {
        let shared = Shared()
        _ = StageThread("hw") { Self.run(shared, settings, encoders, place) }
        guard encoders.wait(shared.opened, limits.open), let result = shared.opening.withLock({ $0 }) else {
            self.end(shared)
            throw MediaError(
                .unavailable, "\(settings.implementation.rawValue) did not open in \(limits.open) ms", at: place,
                fix: settings.implementation.remedy)
        }
        return DeadlineEncoder(shared, encoders, limits, parameterSets: try result.get(), place: place)
    }

    private static func run(
        _ shared: Shared, _ settings: VideoEncoderSettings, _ encoders: LadderEncoders, _ place: String
    ) {
        let encoder: any FrameEncoder
        do throws(MediaError) {
            encoder = try encoders.video(settings, place)
        } catch {
            shared.report(.failure(error))
            return
        }
        shared.report(.success(encoder.parameterSets))
        while true {
            shared.given.wait()
            let (job, isEnded) = shared.state.withLock { ($0.job.take(), $0.isEnded) }
            guard let job, !isEnded else { return }
            var answer = Answer()
            do throws(MediaError) {
                switch job {
                case .encode(let picture, let pts, let forceIDR, let forceP):
                    try encoder.encode(picture, pts: pts, forceIDR: forceIDR, forceP: forceP) {
                        answer.packets.append($0)
                    }
                case .finish: try encoder.finish { answer.packets.append($0) }
                }
            } catch { answer.error = error }
            shared.state.withLock { $0.answer = answer }
            shared.answered.signal()
        }
    }

    private static func end(_ shared: Shared) {
        shared.state.withLock { $0.isEnded = true }
        shared.given.signal()
    }

    func encode(
        _ picture: Picture, pts: Int64, forceIDR: Bool, forceP: Bool, _ body: (CodedPacket) -> Void
    ) throws(MediaError) {
        try self.perform(.encode(picture, pts: pts, forceIDR: forceIDR, forceP: forceP), body)
    }

    func finish(_ body: (CodedPacket) -> Void) throws(MediaError) { try self.perform(.finish, body) }

    /// Has the thread carry out a job, and passes on its packets, also those before an error.
    private func perform(_ job: Job, _ body: (CodedPacket) -> Void) throws(MediaError) {
        guard !self.isAbandoned else { throw self.stalled }
        self.shared.state.withLock { $0.job = job }
        self.shared.given.signal()
        let isAnswered = (0..<Self.waits).contains { _ in
            self.encoders.wait(self.shared.answered, self.limits.call / Self.waits)
        }
        guard isAnswered else {
            self.isAbandoned = true
            throw self.stalled
        }
        let answer = self.shared.state.withLock { $0.answer.take() } ?? Answer()
        for packet in answer.packets { body(packet) }
        if let error = answer.error { throw error }
    }

    private var stalled: MediaError {
        MediaError(
            .rejected, "the encoder did not answer in \(self.limits.call) ms", at: self.place,
            fix: "look at the GPU's kernel log, then restart the room")
    }
}
