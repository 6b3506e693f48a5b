import DequeModule
import Dispatch
package import LibAV
package import MediaTypes
import Synchronization

/// What one source has ready for the program: decoded pictures and sound on program time, and the state it is in.
///
/// Written by the source's decode thread, read by the program thread. Times are nanoseconds of program time.
package final class SourceBuffer: Sendable {
    /// Spec: the states of a source in the field's words.
    package enum Status: String, Sendable {
        /// Nobody has published yet.
        case idle
        case live
        /// The publisher is gone; its last picture may still be on air.
        case lost
        /// A file that has been read to its end.
        case ended
    }

    /// What a source gives for one tick.
    package struct Selection: Sendable {
        package var picture: Picture
        /// Not shown at any tick before.
        package var isFresh: Bool
        /// Program time the picture is meant for, and of its arrival (`nil` for files).
        package var time: Int64
        package var arrival: Int64?
        /// When the publication it is of was over; `nil`: it goes on.
        package var lostAt: Int64?
        /// When the last packet came; `nil`: the publisher is not silent. See ``SourceBuffer/setSilent(since:)``.
        package var silentSince: Int64?
    }

    private struct Shown: Sendable {
        var picture: Picture
        var time: Int64
        var arrival: Int64?
        /// Begins a publication.
        var isFirst: Bool
        /// Of which publication it is.
        var life: Int
    }

    private struct State {
        var pictures = Deque<Shown>()
        var current: Shown?
        /// The next picture that is pushed begins a publication.
        var isBeginning = true
        /// Nothing of the publication that runs, or ran last, is to be seen.
        var isBanished = false
        var sound: SoundTracks
        var status = Status.idle
        var statusSince: Int64 = 0
        /// Publications so far, and when the one was lost that the newest picture is of.
        var life = 0
        var lostAt: Int64 = 0
        var silentSince: Int64?
        var hasVideo = false
        var hasAudio = false
        var isFinished = false
        var dropped = 0
        var flashes = LipSyncProbe()
        /// Format of the newest picture, and who wants to know when that changes.
        var format: PictureFormat?
        var formatWatcher: (@Sendable (PictureFormat) -> Void)?
        /// Distances of a file's last pictures, and the time of the newest.
        var steps = Deque<Int64>()
        var newest: Int64?
        /// Time of the newest picture that was kept from the decoder.
        var withheldUntil: Int64 = .min
        /// The tick the offline program asked for last, and the sample position it needs sound up to for it: at few ticks a second
        /// more than a reader is ahead.
        var wanted: Int64 = .min
        var wantedSound: Int64 = .min
        /// Whether the offline program waits for a picture beyond ``wanted``, too; not while it mixes the sound before that tick.
        var needsPicture = true
        /// The tick the program chose a picture for last, and its length.
        var selected: Int64 = .min
        var interval: Int64 = 0
        /// The reader of a file is as far ahead as it may be, and the program still has what it needs: it rests, to do
        /// several pictures in a row when it is woken.
        var isResting = false
        /// The program waits until ``wanted`` can be served.
        var isAwaited = false

        /// Whether the tick that was asked for last can be served: a picture beyond it is decoded, and its sound, or nothing more
        /// comes.
        func canServe(isHidden: Bool) -> Bool {
            if self.isFinished { return true }
            guard self.status != .idle else { return false }
            let isPast = isHidden && self.withheldUntil > self.wanted
            let isAhead = self.pictures.last.map { $0.time > self.wanted } ?? false
            let hasPictures = !self.needsPicture || !self.hasVideo || isPast || isAhead
            let hasSound = !self.hasAudio || self.sound.end >= self.wantedSound
            return hasPictures && hasSound || self.isApart(soundFrom: self.wantedSound)
        }

        /// Whether one track of a file is so far ahead of what the program waits for that the other one has a gap there.
        ///
        /// The reader stops and the waiting program goes on by this one rule, so they never wait for each other, and what the
        /// program goes on with follows from the file alone, not from how fast it is read.
        func isApart(soundFrom position: Int64) -> Bool {
            if self.hasAudio, self.sound.end >= position &+ SourceBuffer.fileGapSound { return true }
            guard self.pictures.count >= SourceBuffer.fileGapPictures, let newest = self.pictures.last else {
                return false
            }
            let ahead = self.pictures.count { $0.time > self.wanted }
            return ahead >= SourceBuffer.mostGapPictures
                || ahead >= SourceBuffer.fileGapPictures && newest.time &- self.wanted >= SourceBuffer.fileGap
        }

        /// The picture to show at `time`; see ``SourceBuffer/select(at:interval:isSeen:)``.
        func best(at time: Int64, interval: Int64, slackFraction: Int64) -> Int? {
            var best: Int?
            for index in self.pictures.indices {
                let distance = abs(self.pictures[index].time &- time)
                // The next picture in turn gets the benefit of the doubt, any later one must be clearly nearer.
                let isNext =
                    index == self.pictures.startIndex && self.current != nil && !self.pictures[index].isFirst
                let reach = isNext ? interval / 2 + interval / slackFraction : interval / 2
                guard self.pictures[index].time <= time || distance <= reach else { break }
                if let held = best {
                    let heldDistance = abs(self.pictures[held].time &- time)
                    // Of a source with several pictures a tick, what is clear follows from their distance, not from the tick's
                    // length: otherwise the source would fall behind by a picture at each tick.
                    let spacing = min(interval, self.pictures[index].time &- self.pictures[held].time)
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

        /// Drops pictures that the tick the program waits for would pass over; later pictures do not change that.
        mutating func dropPassedOver(slackFraction: Int64) {
            guard self.interval > 0, self.wanted > self.selected,
                let best = self.best(at: self.wanted, interval: self.interval, slackFraction: slackFraction)
            else { return }
            self.pictures.removeSubrange(self.pictures.startIndex..<best)
        }

        /// Something has come: whether the program is to be woken, which waits and need not any more.
        mutating func wakesProgram(isHidden: Bool) -> Bool {
            guard self.isAwaited, self.canServe(isHidden: isHidden) else { return false }
            self.isAwaited = false
            return true
        }

        func selection(_ shown: Shown, isFresh: Bool) -> Selection {
            let goesOn = shown.life == self.life && self.status != .lost
            return Selection(
                picture: shown.picture, isFresh: isFresh, time: shown.time, arrival: shown.arrival,
                lostAt: goesOn ? nil : self.lostAt, silentSince: self.silentSince)
        }
    }

    /// Decoded pictures a live source may have waiting. At 30 fps and 200 ms of jitter buffer there are six or seven;
    /// more than this means that they come faster than time, and the oldest go.
    package static let pictureLimit = 24
    /// A picture may be shown this part of a tick beyond half a tick early or late: 3 ms at 30 fps, more than the jitter of
    /// whole milliseconds, and with the half tick still within the 20 ms that lips allow.
    private static let slackFraction: Int64 = 10
    /// Files are written with less care than phones send, and nobody adjusts their mapping.
    private static let fileSlackFraction: Int64 = 4
    /// Pictures and seconds of sound a file may be ahead of the program.
    static let fileLead = 3
    static let fileSoundLead: Int64 = 4_096
    /// Nanoseconds the coded pictures of a file nobody sees may be ahead: more than any reordering.
    private static let fileHiddenLead: Int64 = 300_000_000
    /// If one track of a file is this far ahead, then the other one has a gap or is over, and the program does not wait for it:
    /// pictures and nanoseconds, or pairs (2 s at 48 kHz, less than ``fileRingSize``). Muxers interleave within a second.
    static let fileGapPictures = 48
    static let fileGap: Int64 = 1_250_000_000
    static let fileGapSound: Int64 = 96_000
    /// Pictures a file may be ahead in any case: they cost memory.
    static let mostGapPictures = 96
    /// Distances of pictures that are noted: the longest of the last ones is how long a file's last picture lasts, since two
    /// pictures may lie close together.
    private static let notedSteps = 4
    /// Pairs of a file's sound that are kept.
    private static let fileRingSize = 1 << 17

    package let source: SourceID
    /// The offline program asks for pictures that are not there yet and waits; the live one never does.
    package let isPaced: Bool
    /// Pairs over which live sound fades at a seam: 5 ms at 48 kHz. A file's samples stay as they are.
    private static let soundFade: Int64 = 240
    private let state: Mutex<State>
    /// What the program needs of the source's pictures.
    package let need = SourceNeed()
    /// Its coded pictures, for whom it passes through; nobody by default.
    package let coded = CodedLane()
    private let changed = DispatchSemaphore(value: 0)
    private let taken = DispatchSemaphore(value: 0)

    package init(source: SourceID, isPaced: Bool) {
        self.source = source
        self.isPaced = isPaced
        self.state = Mutex(
            State(
                sound: isPaced
                    ? SoundTracks(fade: 0, ringSize: Self.fileRingSize) : SoundTracks(fade: Self.soundFade)))
    }

    // MARK: The decode thread's side

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
            } else if status == .lost, (state.pictures.last ?? state.current)?.life == state.life {
                // The silence before it counts: a picture that was held for it is not held again.
                state.lostAt = min(time, state.silentSince ?? time)
            }
        }
        self.changed.signal()
    }

    /// Says since when a connected publisher has sent nothing; `nil`: it sends. From any thread; of live sources.
    package func setSilent(since time: Int64?) { self.state.withLock { $0.silentSince = time } }

    /// The next picture lies anew to the ticks: the source's mapping has changed.
    package func beginAnew() { self.state.withLock { $0.isBeginning = true } }

    /// What was shown, what waits, and what the decoder still makes of this publication is not to be seen: until the next one is live
    /// it is as before the first picture. Of a live source; from any thread.
    package func banish() {
        self.state.withLock { state in
            state.isBanished = true
            state.current = nil
            state.pictures.removeAll()
        }
    }

    /// Announces which tracks will come, so that the offline program knows what to wait for.
    package func setTracks(video: Bool, audio: Bool) {
        self.state.withLock {
            $0.hasVideo = video
            $0.hasAudio = audio
        }
    }

    /// Calls `body` on the decode thread with the format of the first picture, and of each that differs from the one
    /// before, when it is pushed: well before it is due.
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
            // Presentation order is the decoder's promise; after a new mapping the new times win.
            while let last = state.pictures.last, last.time >= time { _ = state.pictures.popLast() }
            state.pictures.append(
                Shown(picture: picture, time: time, arrival: arrival, isFirst: state.isBeginning, life: state.life))
            state.isBeginning = false
            if self.isPaced {
                state.noteStep(to: time)
                state.dropPassedOver(slackFraction: Self.fileSlackFraction)
            } else if state.pictures.count > Self.pictureLimit {
                state.pictures.removeFirst()
                state.dropped += 1
            }
            return state.wakesProgram(isHidden: self.need.isHidden)
        }
        if isAwaited { self.changed.signal() }
    }

    package func push(_ samples: [Float], at position: Int64, restart: Bool, track: UInt8 = 0) {
        let isAwaited = self.state.withLock { state -> Bool in
            let start = state.sound.write(samples, at: position, restart: restart, track: track)
            if state.sound.isMain(track) { state.flashes.heard(samples, at: start) }
            return state.wakesProgram(isHidden: self.need.isHidden)
        }
        if isAwaited { self.changed.signal() }
    }

    /// No more will come: a file's end.
    package func finish() {
        self.state.withLock {
            $0.isFinished = true
            $0.status = .ended
        }
        self.changed.signal()
    }

    /// A picture for `time` is kept from the decoder, because nobody sees the source.
    func withheld(until time: Int64) {
        let isAwaited = self.state.withLock { state -> Bool in
            state.withheldUntil = max(state.withheldUntil, time)
            return state.wakesProgram(isHidden: self.need.isHidden)
        }
        if isAwaited { self.changed.signal() }
    }

    /// The tick the offline program waits for, in program time.
    var wantedTime: Int64 { self.state.withLock { $0.wanted } }

    /// Blocks the decode thread of a file until the program has caught up with it. A track that is short of data never
    /// waits for the other one.
    package func waitUntilWanted(_ isStopped: () -> Bool, soundWantedUntil: () -> Int64) {
        while !isStopped() {
            let full = self.state.withLock { state -> Bool in
                let isPast = self.need.isHidden && state.withheldUntil > state.wanted &+ Self.fileHiddenLead
                // Of pictures that came at once at a return none may be new.
                let isAhead = state.pictures.last.map { $0.time > state.wanted } ?? false
                let pictures = !state.hasVideo || isPast || isAhead && state.pictures.count >= Self.fileLead
                let wanted = soundWantedUntil()
                let sound =
                    !state.hasAudio || state.sound.end >= max(wanted + Self.fileSoundLead, state.wantedSound)
                let isApart = state.isApart(soundFrom: max(wanted, state.wantedSound))
                if pictures && sound || isApart { state.isResting = true }
                return state.isResting
            }
            if !full { return }
            _ = self.taken.wait(timeout: .now() + .milliseconds(100))
        }
    }

    // MARK: The program thread's side

    package var status: (status: Status, since: Int64) { self.state.withLock { ($0.status, $0.statusSince) } }
    /// The picture that was shown last, or else the newest that waits; `nil` before the first.
    package var snapshot: Picture? { self.state.withLock { $0.current?.picture ?? $0.pictures.last?.picture } }

    package var droppedPictures: Int { self.state.withLock { $0.dropped } }
    package var lipSync: LipSyncProbe { self.state.withLock { $0.flashes } }

    /// The picture nearest to `time`; the one before once more when there is none newer; `nil` before the first.
    ///
    /// A picture that would be shown next anyway is taken even when it lies up to a tenth of a tick beyond the half
    /// way: timestamps in whole milliseconds would otherwise make a source whose pictures fall between two ticks
    /// flutter between repeated and skipped pictures. The first picture of a publication gets no such benefit: it sets how
    /// all later ones lie to the ticks, and a bias there would be one of lip-sync.
    ///
    /// - Parameters:
    ///   - time: The tick, in program time.
    ///   - interval: The tick's length.
    ///   - isSeen: Viewers see it at this tick, which is what ``lipSync`` is measured by.
    package func select(at time: Int64, interval: Int64, isSeen: Bool = true) -> Selection? {
        self.state.withLock { state -> Selection? in
            (state.selected, state.interval) = (time, interval)
            let best = state.best(
                at: time, interval: interval,
                slackFraction: self.isPaced ? Self.fileSlackFraction : Self.slackFraction)
            guard let best else {
                return state.current.map { state.selection($0, isFresh: false) }
            }
            let chosen = state.pictures[best]
            state.pictures.removeSubrange(state.pictures.startIndex...best)
            state.current = chosen
            if isSeen, !self.need.isHidden {
                state.flashes.seen(chosen.picture, at: time)
            } else {
                state.flashes.lookAway()
            }
            return state.selection(chosen, isFresh: true)
        }
    }

    /// Copies the sound of `range` (sample positions) into `target`; see ``SoundRing/read(_:into:)``.
    package func read(_ range: Range<Int64>, into target: inout [Float]) -> Int {
        self.state.withLock { $0.sound.take(range, into: &target) }
    }

    // MARK: Audio tracks

    /// Moves the gain of one audio track within `pairs`; at once before anything was read. A track that is not there yet
    /// begins with it.
    package func setGain(_ gain: Float, ofTrack track: UInt8, over pairs: Int64) {
        self.state.withLock { $0.sound.setGain(gain, of: track, over: pairs) }
    }

    /// The audio tracks there were so far, and their gains; the main one first.
    package var audioTracks: [(track: UInt8, gain: Float)] { self.state.withLock { $0.sound.gains } }

    /// Whether the offline program may take the tick at `time`: see ``State/canServe(isHidden:)``. A reader that rests goes on if not.
    private func isReady(for time: Int64, soundPosition: Int64, needsPicture: Bool) -> Bool {
        self.state.withLock { state in
            if !state.isFinished, state.status != .idle { (state.wanted, state.wantedSound) = (time, soundPosition) }
            state.needsPicture = needsPicture
            let isReady = state.canServe(isHidden: self.need.isHidden)
            if !isReady, state.status != .idle { state.isResting = false }
            state.isAwaited = !isReady
            return isReady
        }
    }

    /// The offline program waits for the source.
    package var isAwaited: Bool { self.state.withLock { $0.isAwaited } }

    /// Blocks the offline program until the source can serve the tick.
    ///
    /// - Parameters:
    ///   - time: The next tick a picture is chosen for, in program time.
    ///   - soundPosition: The sample position up to which sound is needed.
    ///   - needsPicture: Whether a picture for the tick is needed, too; the reader keeps pictures for it in any case.
    package func waitUntilReady(
        for time: Int64, soundPosition: Int64, needsPicture: Bool = true, _ isStopped: () -> Bool
    ) {
        while !self.isReady(for: time, soundPosition: soundPosition, needsPicture: needsPicture), !isStopped() {
            self.taken.signal()
            _ = self.changed.wait(timeout: .now() + .milliseconds(100))
        }
    }

    /// When a file is over: the time its last picture ends, or its sound where there is more than a quarter of a second of
    /// it after that (encoders pad less); `nil` while more may come.
    ///
    /// - Parameter interval: A tick's length; the last picture lasts as long as those before it, and no longer than that.
    package func endTime(interval: Int64, sampleRate: Int64) -> Int64? {
        self.state.withLock { state in
            guard state.isFinished else { return nil }
            let shown = state.pictures.last?.time ?? state.current?.time
            let picture = shown.map { max($0, state.withheldUntil) }
            let sound =
                state.sound.end > state.sound.start
                ? TimeMath.scale(state.sound.end, by: TimeMath.nanoseconds, over: sampleRate) : 0
            guard state.hasVideo, let picture else { return sound }
            // A tick may be longer than a picture.
            let end = picture &+ min(interval, state.steps.max() ?? interval)
            return sound &- end > TimeMath.nanoseconds / 4 ? sound : end
        }
    }
}
