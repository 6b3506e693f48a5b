package import Control
import Dispatch
package import LibAV
package import MediaTypes
package import Program
import Threading
import Synchronization

/// Makes JPEG stills of single sources on request, on one thread of its own, which starts with the first request.
/// Between requests nothing is decoded or encoded.
///
/// A still shows the newest frame that the source's decoder has output, or the source's last key frame, whichever arrived
/// later. Viewers may not have seen the key frame yet. While all frames of the source are decoded for live stills
/// (``FullyDecodedSource``), they show decoded frames, unless these are more than a second older than the key frame. Frames of an earlier publication are not used while the source is
/// published again.
package final class SourceStills: Sendable {
    /// Receives a still, or why there is none. Called once, on any thread. It must not block.
    package typealias Answer = @Sendable (Result<SourceStill, ControlFailure>) -> Void

    /// Allowed widths in pixels.
    package static let widths = 16...1_280

    struct Waiter: Sendable {
        /// The tag of the file that the client already has; nil if it has none.
        var known: String?
        var isLive: Bool
        var answer: Answer
    }

    private struct State {
        var cache = StillCache<Waiter>()
        var decoded = FullyDecodedSource()
        /// The sources whose stills were requested.
        var sources: [SourceID: RoomSource] = [:]
        var counts = Counts()
        var thread: StageThread?
        var isStopped = false
    }

    /// Counters since the start of the worker.
    package struct Counts: Sendable, Equatable {
        /// JPEG files made.
        package var made = 0
        /// Times that a key frame was decoded for stills; stills of several widths share one.
        package var decoded = 0
        package var failed = 0
    }

    /// A frame of which a still can be made.
    private struct Frame {
        enum Content {
            case picture(Picture)
            case key(KeyFrameTap.KeyFrame)
        }

        var id: StillCache<Waiter>.FrameID
        var content: Content
        /// When the frame arrived, on the monotonic clock.
        var arrival: Int64
        /// Program time at which the frame is shown; nil before the program runs.
        var shown: Int64?
    }

    private let clock: ProgramClock
    private let machine: any MonotonicClock
    private let state = Mutex(State())
    private let wake = DispatchSemaphore(value: 0)

    package init(clock: ProgramClock, machine: any MonotonicClock) {
        (self.clock, self.machine) = (clock, machine)
    }

    package var counts: Counts { self.state.withLock(\.counts) }

    /// Requests a still.
    ///
    /// - Parameters:
    ///   - width: Largest width in pixels, in ``widths``; see ``size(of:width:)``.
    ///   - isLive: Whether to decode all frames of the source for ``FullyDecodedSource/duration``.
    ///   - known: The tag of the still that the client already has; nil if it has none.
    ///   - isPaused: Whether the machine is overloaded. Then no still is made, but an earlier one may be sent again.
    package func request(
        of source: RoomSource, width: Int, isLive: Bool = false, known: String? = nil, isPaused: Bool,
        _ answer: @escaping Answer
    ) {
        let id = source.spec.id
        if isLive, !isPaused { self.decodeFully(source) }
        guard let frame = self.newest(of: source, isLive: isLive) else { return answer(.failure(Self.missing(source))) }
        let now = self.machine.now()
        if known == Self.tag(frame.id, width) { return answer(.success(self.unchanged(frame, width))) }
        let (refusal, file) = self.state.withLock { state -> (ControlFailure?, StillCache<Waiter>.File?) in
            if let file = state.cache.file(of: id, width: width, frame: frame.id, now: now, anyAge: isPaused) {
                return (nil, file)
            }
            if state.isStopped { return (Self.ended, nil) }
            if isPaused { return (Self.paused, nil) }
            guard state.cache.add(Waiter(known: known, isLive: isLive, answer: answer), for: id, width: width) else {
                return (Self.busy, nil)
            }
            state.sources[id] = source
            if state.thread == nil {
                state.thread = StageThread("stills", yields: true) { CrashMark.onGuardedStack { self.work() } }
            }
            return (nil, nil)
        }
        if let refusal { return answer(.failure(refusal)) }
        if let file { return answer(.success(Self.still(file, width, known: known, now: now))) }
        self.wake.signal()
    }

    private func decodeFully(_ source: RoomSource) {
        // If the source has a long delay, its newest key frame is more useful than frames that are decoded later.
        guard Self.wait(of: source) <= Self.longestWait, let time = self.clock.now() else { return }
        let now = self.machine.now()
        let isGranted = self.state.withLock { !$0.isStopped && $0.decoded.request(source.spec.id, now: now) }
        if isGranted { source.buffer.need.keepDecoded(until: time &+ FullyDecodedSource.duration) }
    }

    /// Longest time between the arrival of a frame and its decoding at which live stills show decoded frames, in nanoseconds.
    private static let longestWait: Int64 = 1_000_000_000

    private static func wait(of source: RoomSource) -> Int64 {
        (source.decode.timing.buffered ?? source.decode.jitterBuffer) &+ source.decode.wantedOffset
    }

    /// Removes the files of a source that has left the room.
    package func forget(_ source: SourceID) {
        self.state.withLock { state in
            state.cache.forget(source)
            state.decoded.forget(source)
            state.sources[source] = nil
        }
    }

    /// Answers the waiting requests with an error, and waits for the thread to end. The thread first finishes the stills
    /// that it is making.
    package func stop() {
        let (thread, waiters) = self.state.withLock { state -> (StageThread?, [Waiter]) in
            state.isStopped = true
            var waiters: [Waiter] = []
            while let job = state.cache.next() { waiters += job.waiters.values.joined() }
            return (state.thread.take(), waiters)
        }
        for waiter in waiters { waiter.answer(.failure(Self.ended)) }
        self.wake.signal()
        thread?.join()
    }

    // MARK: The thread

    private func work() {
        // Encoders stay open, since pages and the moderation service request the same sizes again and again.
        var writers: [JPEGWriter] = []
        while true {
            let (job, source, isStopped) = self.state.withLock { state in
                let job = state.cache.next()
                return (job, job.flatMap { state.sources[$0.source] }, state.isStopped)
            }
            if let job {
                self.carryOut(job, source, &writers)
            } else if isStopped {
                return
            } else {
                let rest: DispatchTime = writers.isEmpty ? .distantFuture : .now() + Self.idleTime
                if self.wake.wait(timeout: rest) == .timedOut { writers = [] }
            }
        }
    }

    /// Largest number of JPEG encoders that are kept open.
    private static let mostWriters = 8
    /// Time without a request after which all JPEG encoders are closed.
    private static let idleTime = DispatchTimeInterval.seconds(60)

    private static func jpeg(_ picture: Picture, width: Int, _ writers: inout [JPEGWriter]) throws(MediaError)
        -> [UInt8]
    {
        let size = Self.size(of: picture.format, width: width)
        let writer: JPEGWriter
        if let index = writers.firstIndex(where: {
            $0.format == picture.format && $0.width == size.width && $0.height == size.height
        }) {
            writer = writers.remove(at: index)
        } else {
            writer = try JPEGWriter.open(picture.format, width: size.width, height: size.height)
        }
        let bytes = try writer.jpeg(picture)
        if writers.count >= Self.mostWriters { writers.removeFirst() }
        writers.append(writer)
        return bytes
    }

    private func carryOut(_ job: StillCache<Waiter>.Job, _ source: RoomSource?, _ writers: inout [JPEGWriter]) {
        let isLive = job.waiters.values.joined().contains(where: \.isLive)
        guard let source, let frame = self.newest(of: source, isLive: isLive) else {
            let failure = source.map { Self.missing($0) } ?? Self.removed(job.source)
            for waiter in job.waiters.values.joined() { waiter.answer(.failure(failure)) }
            return
        }
        // The frame is decoded once, in the quality for the largest width.
        var picture: Picture?
        for (width, waiters) in job.waiters.sorted(by: { $0.key > $1.key }) {
            let result: Result<StillCache<Waiter>.File, ControlFailure>
            do throws(MediaError) {
                let drawn = if let picture { picture } else { try self.picture(of: frame, source, width: width) }
                picture = drawn
                let bytes = try Self.jpeg(drawn, width: width, &writers)
                result = .success(
                    StillCache.File(
                        frame: frame.id, bytes: bytes, arrival: frame.arrival, shown: frame.shown,
                        made: self.machine.now()))
            } catch {
                result = .failure(.notFound("the still cannot be made: \(error.what)", fix: error.fix))
            }
            self.state.withLock { state in
                switch result {
                case .success(let file):
                    state.counts.made += 1
                    if state.sources[job.source] != nil { state.cache.keep(file, of: job.source, width: width) }
                case .failure: state.counts.failed += 1
                }
            }
            let now = self.machine.now()
            for waiter in waiters {
                waiter.answer(result.map { Self.still($0, width, known: waiter.known, now: now) })
            }
        }
    }

    private func picture(of frame: Frame, _ source: RoomSource, width: Int) throws(MediaError) -> Picture {
        switch frame.content {
        case .picture(let picture): return picture
        case .key(let key):
            self.state.withLock { $0.counts.decoded += 1 }
            return try KeyFrameDecoder.picture(
                of: key.packet, key.parameters, source: source.spec.id, rotation: source.decode.rotation,
                maxPixels: source.maxPixels, skipsLoopFilter: width <= Self.coarseWidth)
        }
    }

    /// Up to this width, key frames are decoded without the loop filter.
    private static let coarseWidth = 320

    // MARK: Frames

    /// Why there would be no still now; nil if one can be made.
    package func refusal(of source: RoomSource, isPaused: Bool) -> ControlFailure? {
        if isPaused { return Self.paused }
        return self.newest(of: source) == nil ? Self.missing(source) : nil
    }

    /// The frame that arrived last: decoded, or the last key frame; nil if there is neither.
    ///
    /// - Parameter isLive: Whether all frames of the source are decoded. Then a decoded frame is preferred to a key frame that
    ///   waits for the decoder.
    private func newest(of source: RoomSource, isLive: Bool = false) -> Frame? {
        let zero = self.clock.zero ?? 0
        let tapped = source.tapped
        var decoded = source.buffer.newest.map { newest in
            // A file has no arrival times.
            Frame(
                id: .decoded(newest.time), content: .picture(newest.picture),
                arrival: (newest.arrival ?? newest.time) &+ zero, shown: newest.time)
        }
        // The last frame of an earlier publication stays in the buffer until this one's first frame is decoded.
        if source.isPublishing, !source.isFile, let arrival = decoded?.arrival, arrival < tapped.began ?? .max {
            decoded = nil
        }
        guard let key = tapped.keyFrame else { return decoded }
        let lead = isLive ? Self.longestWait : 0
        if let decoded, decoded.arrival &+ lead >= key.packet.arrival { return decoded }
        // An estimate from the arrival time: the frame's own timestamp is not used.
        let wait = Self.wait(of: source)
        return Frame(
            id: .coded(key.packet.arrival), content: .key(key), arrival: key.packet.arrival,
            shown: self.clock.program(of: key.packet.arrival).map { $0 &+ wait })
    }

    private static func missing(_ source: RoomSource) -> ControlFailure {
        let id = source.spec.id
        if !source.isPublishing {
            return .notFound("source \(id) is not published", fix: "repeat the request when it is")
        }
        guard source.tapped.hasVideo || source.isFile else {
            return .notFound("source \(id) has no video", fix: "show its name instead of a still")
        }
        return .notFound(
            source.isFile
                ? "source \(id) has no video, or none of its frames is decoded yet"
                : "source \(id) has sent no key frame yet", fix: "repeat the request in a second")
    }

    private static func removed(_ source: SourceID) -> ControlFailure {
        .notFound("source \(source) has left the room", fix: "use GET /v1/sources for the sources of the room")
    }

    private static let ended = ControlFailure.roomExited(
        "the room has ended or is ending", fix: "send the request to the room's next worker, if there is one")
    private static let paused = ControlFailure.limitExceeded(
        "no stills are made while the machine is overloaded", fix: "repeat the request later")
    private static let busy = ControlFailure.limitExceeded(
        "too many requests wait for stills", fix: "request stills less often")

    /// The size of a still with square pixels: at most `width` by twice `width`, and no larger than the frame as displayed.
    /// Then both sides are rounded up to even numbers of at least 16.
    package static func size(of format: PictureFormat, width: Int) -> (width: Int, height: Int) {
        let (across, down) = (max(1, Int64(format.sarNumerator)), max(1, Int64(format.sarDenominator)))
        let (columns, rows) = (max(1, Int64(format.width)), max(1, Int64(format.height)))
        let shown = across >= down ? (columns &* across / down, rows) : (columns, rows &* down / across)
        var wide = min(Int64(width), shown.0)
        var high = shown.1 &* wide / shown.0
        if high > Int64(width) &* 2 {
            high = Int64(width) &* 2
            wide = shown.0 &* high / shown.1
        }
        func even(_ side: Int64) -> Int { max(16, Int(clamping: (side &+ 1) / 2 &* 2)) }
        return (even(wide), even(high))
    }

    // MARK: Replies

    private static func tag(_ frame: StillCache<Waiter>.FrameID, _ width: Int) -> String {
        switch frame {
        case .decoded(let time): "\"f\(time)-\(width)\""
        case .coded(let arrival): "\"k\(arrival)-\(width)\""
        }
    }

    private func unchanged(_ frame: Frame, _ width: Int) -> SourceStill {
        SourceStill(
            tag: Self.tag(frame.id, width), ageMs: Self.age(of: frame.arrival, now: self.machine.now()),
            programTime: frame.shown, bytes: nil)
    }

    private static func still(_ file: StillCache<Waiter>.File, _ width: Int, known: String?, now: Int64) -> SourceStill
    {
        let tag = Self.tag(file.frame, width)
        return SourceStill(
            tag: tag, ageMs: Self.age(of: file.arrival, now: now), programTime: file.shown,
            bytes: known == tag ? nil : file.bytes)
    }

    private static func age(of arrival: Int64, now: Int64) -> Int64 { max(0, now &- arrival) / 1_000_000 }
}
