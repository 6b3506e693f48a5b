import DequeModule
import Dispatch
package import LibAV
package import MediaTypes
import Synchronization

/// Decoded frames and audio of one source on program time, with the source's status.
///
/// Written by the source's decode thread, read by the program thread. Times are nanoseconds of program time.
package final class SourceBuffer: Sendable {
    /// Status of a source.
    package enum Status: String, Sendable {
        /// No publisher has been connected yet.
        case idle
        case live
        /// The publisher has disconnected, or a live room's file has ended; its last frame may still be on air.
        case lost
        /// An offline room's file has been read to its end.
        case ended
    }

    /// The frame of a source for one tick.
    package struct Selection: Sendable {
        package var picture: Picture
        /// Whether the frame was not shown at an earlier tick.
        package var isFresh: Bool
        /// Program time at which the frame is due.
        package var time: Int64
        /// Program time at which the frame arrived; `nil` for files.
        package var arrival: Int64?
        /// Program time at which the frame's publication ended, or fell silent before its end; `nil` if it continues.
        package var lostAt: Int64?
        /// Program time since which the publisher has sent nothing; `nil` if it is sending. See
        /// ``SourceBuffer/setSilent(since:)``.
        package var silentSince: Int64?
    }

    private struct BufferedFrame: Sendable {
        var picture: Picture
        var time: Int64
        var arrival: Int64?
        /// Whether this is the first frame of a publication or of a new time mapping.
        var isFirst: Bool
        /// Number of the publication that the frame belongs to.
        var life: Int
    }

    private struct State {
        var frames = Deque<BufferedFrame>()
        var current: BufferedFrame?
        /// Whether the next frame that is pushed is the first of a publication or of a new time mapping.
        var isBeginning = true
        /// Whether frames of the current publication (or of the last one, if none is live) must not be shown.
        var isBanished = false
        var audio: SourceAudioTracks
        var status = Status.idle
        var statusSince: Int64 = 0
        /// Number of publications so far (`life`), and program time at which the newest frame's publication was lost.
        var life = 0
        var lostAt: Int64 = 0
        var silentSince: Int64?
        var hasVideo = false
        var hasAudio = false
        var isFinished = false
        var dropped = 0
        var flashes = LipSyncProbe()
        /// Format of the newest frame, and a callback for its changes.
        var format: PictureFormat?
        var formatWatcher: (@Sendable (PictureFormat) -> Void)?
        /// Intervals between a file's last frames, and the time of the newest frame.
        var steps = Deque<Int64>()
        var newest: Int64?
        /// Time of the newest frame that was withheld from the decoder.
        var withheldUntil: Int64 = .min
        /// Program time of the tick that the offline program requested last (`wanted`), and the position up to which it
        /// needs audio. At low frame rates that position is further than a reader would otherwise read ahead.
        var wanted: Int64 = .min
        var wantedAudio: Int64 = .min
        /// Whether the offline program also waits for a frame after ``wanted``; `false` while it mixes the audio before
        /// that tick.
        var needsPicture = true
        /// Program time of the tick for which the program selected a frame last, and the length of a tick.
        var selected: Int64 = .min
        var interval: Int64 = 0
        /// Whether the file's reader sleeps because it is as far ahead as allowed. It wakes when the program lacks
        /// data, and then decodes several frames in a row.
        var isResting = false
        /// Whether the offline program waits for data for ``wanted``.
        var isAwaited = false

        /// Whether the data for the requested tick is complete: a later frame is decoded and the audio is available, or
        /// no more data will follow.
        func canServe(isHidden: Bool) -> Bool {
            if self.isFinished { return true }
            guard self.status != .idle else { return false }
            let isPast = isHidden && self.withheldUntil > self.wanted
            let isAhead = self.frames.last.map { $0.time > self.wanted } ?? false
            let hasPictures = !self.needsPicture || !self.hasVideo || isPast || isAhead
            let hasEnoughAudio = !self.hasAudio || self.audio.end >= self.wantedAudio
            return hasPictures && hasEnoughAudio || self.isApart(audioFrom: self.wantedAudio)
        }

        /// Whether one track of a file is so far ahead of the requested tick that the other track must have a gap at
        /// that tick.
        ///
        /// The reader pauses and the waiting program continues by this same rule, so they never wait for each other.
        /// The result depends only on the file, not on how fast it is read.
        func isApart(audioFrom position: Int64) -> Bool {
            if self.hasAudio, self.audio.end >= position &+ SourceBuffer.fileGapAudio { return true }
            guard self.frames.count >= SourceBuffer.fileGapPictures, let newest = self.frames.last else {
                return false
            }
            let ahead = self.frames.count { $0.time > self.wanted }
            return ahead >= SourceBuffer.mostGapPictures
                || ahead >= SourceBuffer.fileGapPictures && newest.time &- self.wanted >= SourceBuffer.fileGap
        }

        /// Returns the index of the frame to show at `time`, `nil` if the current frame stays; see
        /// ``SourceBuffer/select(at:interval:isSeen:)``.
        func best(at time: Int64, interval: Int64, slackFraction: Int64) -> Int? {
            var best: Int?
            for index in self.frames.indices {
                let distance = abs(self.frames[index].time &- time)
                // The next frame in turn may be slightly too early; any later one must be clearly nearer.
                let isNext =
                    index == self.frames.startIndex && self.current != nil && !self.frames[index].isFirst
                let reach = isNext ? interval / 2 + interval / slackFraction : interval / 2
                guard self.frames[index].time <= time || distance <= reach else { break }
                if let held = best {
                    let heldDistance = abs(self.frames[held].time &- time)
                    // If a source has several frames per tick, the threshold follows their distance, not the tick's
                    // length. Otherwise the source would fall behind by one frame per tick.
                    let spacing = min(interval, self.frames[index].time &- self.frames[held].time)
                    if distance &+ spacing / slackFraction &* 2 > heldDistance { break }
                }
                best = index
            }
            return best
        }

        mutating func noteStep(to time: Int64) {
            if let newest = self.newest, time > newest { self.steps.append(time &- newest) }
            if self.steps.count > SourceBuffer.notedSteps { self.steps.removeFirst() }
            self.newest = time
        }

        /// Drops frames that the requested tick skips whatever frames follow.
        mutating func dropPassedOver(slackFraction: Int64) {
            guard self.interval > 0, self.wanted > self.selected,
                let best = self.best(at: self.wanted, interval: self.interval, slackFraction: slackFraction)
            else { return }
            self.frames.removeSubrange(self.frames.startIndex..<best)
        }

        /// Returns whether new data allows the waiting program to continue, so that it must be woken.
        mutating func wakesProgram(isHidden: Bool) -> Bool {
            guard self.isAwaited, self.canServe(isHidden: isHidden) else { return false }
            self.isAwaited = false
            return true
        }

        func selection(_ shown: BufferedFrame, isFresh: Bool) -> Selection {
            let goesOn = shown.life == self.life && self.status != .lost
            return Selection(
                picture: shown.picture, isFresh: isFresh, time: shown.time, arrival: shown.arrival,
                lostAt: goesOn ? nil : self.lostAt, silentSince: self.silentSince)
        }
    }

    /// Maximum number of waiting decoded frames of a live source. At 30 fps and a jitter buffer of 200 ms there are six
    /// or seven. If there are more than the limit, the frames come faster than real time, and the oldest are dropped.
    package static let pictureLimit = 24
    /// A frame may be shown early or late by half a tick plus this fraction of a tick (1/10, 3 ms at 30 fps). The
    /// fraction exceeds the jitter of millisecond timestamps, and the sum is within the 20 ms that lip sync allows.
    private static let slackFraction: Int64 = 10
    /// ``slackFraction`` for files (1/4): their timestamps are less regular than those of phones, and their mapping to
    /// program time is not adjusted.
    private static let fileSlackFraction: Int64 = 4
    /// Number of frames that a file is decoded ahead of an offline program.
    static let fileLead = 3
    /// Number of sample pairs that a file's audio is decoded ahead of an offline program.
    static let fileAudioLead: Int64 = 4_096
    /// How far the coded frames of a hidden file source are read ahead of the program, in nanoseconds: more than any
    /// reordering.
    private static let fileHiddenLead: Int64 = 300_000_000
    /// If the video of a file is at least this many frames and ``fileGap`` ahead, its audio has a gap or has ended, and
    /// the program does not wait for the audio. Muxers interleave within a second.
    static let fileGapPictures = 48
    /// Smallest lead of a file's video, in nanoseconds, from which its audio counts as missing; see ``fileGapPictures``.
    static let fileGap: Int64 = 1_250_000_000
    /// If the audio of a file is this many sample pairs ahead (2 s at 48 kHz, less than ``fileRingSize``), its video
    /// has a gap or has ended, and the program does not wait for the video.
    static let fileGapAudio: Int64 = 96_000
    /// If the video of a file is this many frames ahead, the program does not wait for its audio either, because of the
    /// memory of the frames.
    static let mostGapPictures = 96
    /// Number of frame intervals that are recorded. The longest of them is taken as the duration of a file's last
    /// frame, because two frames may lie close together.
    private static let notedSteps = 4
    /// Capacity for a file's audio, in sample pairs.
    private static let fileRingSize = 1 << 17

    package let source: SourceID
    /// Whether the program is offline and waits for frames that are not decoded yet; a live program never waits.
    package let isPaced: Bool
    /// Length of fades of live audio at a seam, in pairs: 5 ms at 48 kHz. Offline, samples are not changed.
    private static let audioFade: Int64 = 240
    private let state: Mutex<State>
    /// What the program needs of the source at the moment.
    package let need = SourceDemand()
    /// The source's coded video, for passthrough; keeps nothing unless it is opened.
    package let coded = CodedFrameQueue()
    /// The source's closed captions; keeps nothing unless it is opened.
    package let captions = CaptionInbox()
    private let changed = DispatchSemaphore(value: 0)
    private let taken = DispatchSemaphore(value: 0)

    package init(source: SourceID, isPaced: Bool) {
        self.source = source
        self.isPaced = isPaced
        self.state = Mutex(
            State(
                audio: isPaced
                    ? SourceAudioTracks(fade: 0, ringSize: Self.fileRingSize) : SourceAudioTracks(fade: Self.audioFade))
        )
    }

    // MARK: Called by the decode thread

    package func setStatus(_ status: Status, at time: Int64) {
        self.state.withLock { state in
            guard state.status != status else { return }
            state.status = status
            state.statusSince = time
            if status == .live {
                state.isFinished = false
                state.isBeginning = true
                state.isBanished = false
                state.life += 1
            } else if status == .lost, (state.frames.last ?? state.current)?.life == state.life {
                // A silence before it counts too: the hold time of the last frame does not start again.
                state.lostAt = min(time, state.silentSince ?? time)
            }
        }
        self.changed.signal()
    }

    /// Sets the program time since which a connected publisher has sent nothing; `nil` if it is sending. For live
    /// sources; may be called from any thread.
    package func setSilent(since time: Int64?) { self.state.withLock { $0.silentSince = time } }

    /// Marks a new mapping of the source's timestamps to program time: the next frame is aligned to the ticks anew.
    package func beginAnew() { self.state.withLock { $0.isBeginning = true } }

    /// Hides the current publication: discards its frames, including the one that is shown, and ignores further ones.
    /// Until the next publication is live, the source looks as before its first frame. For live sources; may be called
    /// from any thread.
    package func banish() {
        self.state.withLock { state in
            state.isBanished = true
            state.current = nil
            state.frames.removeAll()
        }
    }

    /// Announces the tracks of the source, so that the offline program knows what to wait for.
    package func setTracks(video: Bool, audio: Bool) {
        self.state.withLock {
            $0.hasVideo = video
            $0.hasAudio = audio
        }
    }

    /// Sets a callback that is called on the decode thread with the format of the first frame and of each frame whose
    /// format differs from the previous one. It is called when the frame is pushed, well before it is due.
    package func watchFormats(_ body: @escaping @Sendable (PictureFormat) -> Void) {
        self.state.withLock { $0.formatWatcher = body }
    }

    package func push(_ picture: Picture, time: Int64, arrival: Int64?) {
        let watcher = self.state.withLock { state in
            defer { state.format = picture.format }
            return state.format == picture.format ? nil : state.formatWatcher
        }
        watcher?(picture.format)
        let isAwaited = self.state.withLock { state -> Bool in
            guard !state.isBanished else { return false }
            // The decoder outputs frames in presentation order; after a new mapping, the new times win.
            while let last = state.frames.last, last.time >= time { _ = state.frames.popLast() }
            state.frames.append(
                BufferedFrame(
                    picture: picture, time: time, arrival: arrival, isFirst: state.isBeginning, life: state.life))
            state.isBeginning = false
            if self.isPaced {
                state.noteStep(to: time)
                state.dropPassedOver(slackFraction: Self.fileSlackFraction)
            } else if state.frames.count > Self.pictureLimit {
                state.frames.removeFirst()
                state.dropped += 1
            }
            return state.wakesProgram(isHidden: self.need.isHidden)
        }
        if isAwaited { self.changed.signal() }
    }

    package func push(_ samples: [Float], at position: Int64, restart: Bool, track: UInt8 = 0) {
        let isAwaited = self.state.withLock { state -> Bool in
            let start = state.audio.write(samples, at: position, restart: restart, track: track)
            if state.audio.isMain(track) { state.flashes.heard(samples, at: start) }
            return state.wakesProgram(isHidden: self.need.isHidden)
        }
        if isAwaited { self.changed.signal() }
    }

    /// Marks the end of a file: no more data will come.
    package func finish() {
        self.state.withLock {
            $0.isFinished = true
            $0.status = .ended
        }
        self.changed.signal()
    }

    /// Records that a frame for `time` is withheld from the decoder because the source is hidden.
    func withheld(until time: Int64) {
        let isAwaited = self.state.withLock { state -> Bool in
            state.withheldUntil = max(state.withheldUntil, time)
            return state.wakesProgram(isHidden: self.need.isHidden)
        }
        if isAwaited { self.changed.signal() }
    }

    /// Program time of the tick for which the offline program requested data last.
    var wantedTime: Int64 { self.state.withLock { $0.wanted } }

    /// Blocks the decode thread of a file until the program needs more data. A track that lacks data never waits for
    /// the other one.
    package func waitUntilWanted(_ isStopped: () -> Bool, audioWantedUntil: () -> Int64) {
        while !isStopped() {
            let full = self.state.withLock { state -> Bool in
                let isPast = self.need.isHidden && state.withheldUntil > state.wanted &+ Self.fileHiddenLead
                // If many frames were decoded at once when the source became visible, none of them may be newer than
                // the tick.
                let isAhead = state.frames.last.map { $0.time > state.wanted } ?? false
                let hasFrames = !state.hasVideo || isPast || isAhead && state.frames.count >= Self.fileLead
                let wanted = audioWantedUntil()
                let hasAudio =
                    !state.hasAudio || state.audio.end >= max(wanted + Self.fileAudioLead, state.wantedAudio)
                let isApart = state.isApart(audioFrom: max(wanted, state.wantedAudio))
                if hasFrames && hasAudio || isApart { state.isResting = true }
                return state.isResting
            }
            if !full { return }
            _ = self.taken.wait(timeout: .now() + .milliseconds(100))
        }
    }

    // MARK: Called by the program thread

    package var status: (status: Status, since: Int64) { self.state.withLock { ($0.status, $0.statusSince) } }
    /// The frame that was selected last, else the newest decoded frame; `nil` if there is neither.
    package var snapshot: Picture? { self.state.withLock { $0.current?.picture ?? $0.frames.last?.picture } }

    /// The newest decoded frame, with the program times at which it is due and at which it arrived (`nil` for files);
    /// `nil` if there is none. It may not be due yet.
    package var newest: (picture: Picture, time: Int64, arrival: Int64?)? {
        self.state.withLock { state in
            (state.frames.last ?? state.current).map { ($0.picture, $0.time, $0.arrival) }
        }
    }

    package var droppedPictures: Int { self.state.withLock { $0.dropped } }
    package var lipSync: LipSyncProbe { self.state.withLock { $0.flashes } }

    /// Returns the frame nearest to `time`, or the previous frame if there is no newer one; `nil` before the first
    /// frame.
    ///
    /// The next frame in turn is taken even if it is up to a tenth of a tick (a quarter for files that pace the
    /// program) beyond the middle between two ticks. Otherwise millisecond timestamps would make a source whose frames
    /// fall between two ticks alternate between repeated and skipped frames. The first frame of a publication or of a
    /// new time mapping gets no such tolerance: it determines how all later ones are aligned to the ticks, and a bias
    /// would affect lip sync.
    ///
    /// - Parameters:
    ///   - time: Program time of the tick.
    ///   - interval: The tick's length.
    ///   - isSeen: Whether the frame is visible at this tick; ``lipSync`` uses only visible frames.
    package func select(at time: Int64, interval: Int64, isSeen: Bool = true) -> Selection? {
        self.state.withLock { state -> Selection? in
            (state.selected, state.interval) = (time, interval)
            let best = state.best(
                at: time, interval: interval,
                slackFraction: self.isPaced ? Self.fileSlackFraction : Self.slackFraction)
            guard let best else {
                return state.current.map { state.selection($0, isFresh: false) }
            }
            let chosen = state.frames[best]
            state.frames.removeSubrange(state.frames.startIndex...best)
            state.current = chosen
            if isSeen, !self.need.isHidden {
                state.flashes.seen(chosen.picture, at: time)
            } else {
                state.flashes.lookAway()
            }
            return state.selection(chosen, isFresh: true)
        }
    }

    /// Copies the audio of `range` (sample positions) into `target`; see ``SourceAudioTracks/take(_:into:)``.
    package func read(_ range: Range<Int64>, into target: inout [Float]) -> Int {
        self.state.withLock { $0.audio.take(range, into: &target) }
    }

    // MARK: Audio tracks

    /// Changes the gain of one audio track over `pairs` sample pairs, or at once if nothing has been read yet. A track
    /// that does not exist yet will begin with this gain.
    package func setGain(_ gain: Float, ofTrack track: UInt8, over pairs: Int64) {
        self.state.withLock { $0.audio.setGain(gain, of: track, over: pairs) }
    }

    /// The audio tracks with their gains, the main track first.
    package var audioTracks: [(track: UInt8, gain: Float)] { self.state.withLock { $0.audio.gains } }

    /// Requests the data for the tick at `time`, and returns whether the source has it, so that the offline program may
    /// continue; see ``State/canServe(isHidden:)``. If not, the reader of a file that sleeps because it was far enough
    /// ahead reads on.
    private func isReady(for time: Int64, audioPosition: Int64, needsPicture: Bool) -> Bool {
        self.state.withLock { state in
            if !state.isFinished, state.status != .idle { (state.wanted, state.wantedAudio) = (time, audioPosition) }
            state.needsPicture = needsPicture
            let isReady = state.canServe(isHidden: self.need.isHidden)
            if !isReady, state.status != .idle { state.isResting = false }
            state.isAwaited = !isReady
            return isReady
        }
    }

    /// Whether the offline program waits for this source.
    package var isAwaited: Bool { self.state.withLock { $0.isAwaited } }

    /// Blocks the offline program until the source can serve the tick.
    ///
    /// - Parameters:
    ///   - time: The next tick for which a frame is selected, in program time.
    ///   - audioPosition: The sample position up to which audio is needed.
    ///   - needsPicture: Whether a frame for the tick is needed too; the reader keeps frames for it in any case.
    package func waitUntilReady(
        for time: Int64, audioPosition: Int64, needsPicture: Bool = true, _ isStopped: () -> Bool
    ) {
        while !self.isReady(for: time, audioPosition: audioPosition, needsPicture: needsPicture), !isStopped() {
            self.taken.signal()
            _ = self.changed.wait(timeout: .now() + .milliseconds(100))
        }
    }

    /// Returns the end of a file in program time: the end of its last frame, or the end of its audio if that is more
    /// than a quarter of a second later (encoder padding is shorter) or there is no video; `nil` if the file is not
    /// read to its end yet.
    ///
    /// - Parameter interval: Length of a tick; the last frame lasts as long as the previous ones, but no longer than
    ///   this.
    package func endTime(interval: Int64, sampleRate: Int64) -> Int64? {
        self.state.withLock { state in
            guard state.isFinished else { return nil }
            let shown = state.frames.last?.time ?? state.current?.time
            let picture = shown.map { max($0, state.withheldUntil) }
            let audio =
                state.audio.end > state.audio.start
                ? TimeMath.scale(state.audio.end, by: TimeMath.nanoseconds, over: sampleRate) : 0
            guard state.hasVideo, let picture else { return audio }
            // A tick may be longer than a frame.
            let end = picture &+ min(interval, state.steps.max() ?? interval)
            return audio &- end > TimeMath.nanoseconds / 4 ? audio : end
        }
    }
}
