import MediaKernels

/// The audio of one source: a ring buffer for each audio track, mixed with their gains when it is read.
///
/// App audio and microphone audio are two tracks of one publication, on one clock; one of them may start and stop while
/// the other continues. Positions are sample pairs, as in ``AudioRing``.
struct SourceAudioTracks: Sendable {
    private struct Track: Sendable {
        let id: UInt8
        var ring: AudioRing
        var gain: GainRamp
    }

    /// Maximum number of tracks per source; the ring of each takes 2 MB in a live room.
    static let maximumTracks = 4

    private let fade: Int64
    private let ringSize: Int
    /// Tracks in order of appearance, where a track that replaces another one takes its position; the first is the main
    /// track.
    private var tracks: [Track] = []
    private var wanted: [UInt8: Float] = [:]
    private var scratch: [Float] = []
    /// Position up to which the program has read.
    private var readEnd: Int64?

    /// Creates the buffers of a source without tracks.
    ///
    /// - Parameters:
    ///   - fade: See ``AudioRing/init(fade:size:)``.
    ///   - ringSize: Capacity of each track in pairs; a power of two.
    init(fade: Int64, ringSize: Int = AudioRing.capacity) {
        self.fade = fade
        self.ringSize = ringSize
    }

    /// Range of sample positions (`start ..< end`) that the main track contains; 0 without a track.
    var start: Int64 { self.tracks.first?.ring.start ?? 0 }
    var end: Int64 { self.tracks.first?.ring.end ?? 0 }

    /// Whether a track is the main track: the first one that appeared, or the one that has replaced it.
    func isMain(_ id: UInt8) -> Bool { self.tracks.first?.id == id }

    /// Every track with its gain; during a change, the gain after the change.
    var gains: [(track: UInt8, gain: Float)] { self.tracks.map { ($0.id, $0.gain.target) } }

    /// Writes a block of one track. If there are ``maximumTracks`` other tracks, a new track replaces one whose audio
    /// has ended, or its block is dropped.
    ///
    /// - Returns: The actual position of the block's first pair; `position` if the block was dropped.
    @discardableResult
    mutating func write(_ block: [Float], at position: Int64, restart: Bool, track id: UInt8 = 0) -> Int64 {
        let index: Int
        if let known = self.tracks.firstIndex(where: { $0.id == id }) {
            index = known
        } else {
            let track = Track(
                id: id, ring: AudioRing(fade: self.fade, size: self.ringSize), gain: GainRamp(self.wanted[id] ?? 1))
            if self.tracks.count < Self.maximumTracks {
                index = self.tracks.count
                self.tracks.append(track)
            } else if let over = self.tracks.firstIndex(where: { $0.ring.end < self.readEnd ?? .min }) {
                // This track belongs to an earlier publication or has been silent since: reuse it.
                index = over
                self.tracks[over] = track
            } else {
                return position
            }
        }
        return self.tracks[index].ring.write(block, at: position, restart: restart)
    }

    /// Changes the gain of a track linearly over `pairs`, or at once if nothing has been read yet, or sets it for a
    /// track that appears later.
    ///
    /// - Parameter pairs: Duration of the change, in pairs.
    mutating func setGain(_ gain: Float, of id: UInt8, over pairs: Int64) {
        self.wanted[id] = gain
        guard let index = self.tracks.firstIndex(where: { $0.id == id }) else { return }
        if let position = self.readEnd {
            self.tracks[index].gain.move(to: gain, at: position, over: pairs)
        } else {
            self.tracks[index].gain = GainRamp(gain)
        }
    }

    /// Reads the mix of all tracks into `target`, with fades as in ``AudioRing/take(_:into:)``.
    ///
    /// - Returns: 0 if the whole range is silent because no track has audio for it; otherwise more than 0.
    mutating func take(_ range: Range<Int64>, into target: inout [Float]) -> Int {
        self.readEnd = range.upperBound
        if self.tracks.count == 1, self.tracks[0].gain == GainRamp(1) {
            return self.tracks[0].ring.take(range, into: &target)
        }
        AudioMix.clear(&target)
        if self.scratch.count != target.count { self.scratch = [Float](repeating: 0, count: target.count) }
        var heard = 0
        for index in self.tracks.indices {
            let count = self.tracks[index].ring.take(range, into: &self.scratch)
            guard count > 0 else { continue }
            heard = max(heard, count)
            Self.add(self.scratch, range, by: self.tracks[index].gain, onto: &target)
        }
        return heard
    }

    /// Adds a block with its gain, one linear gain segment after the other.
    private static func add(_ audio: [Float], _ range: Range<Int64>, by gain: GainRamp, onto target: inout [Float]) {
        var from = range.lowerBound
        while from < range.upperBound {
            let to = min(range.upperBound, gain.nextBend(after: from))
            AudioMix.add(
                audio, onto: &target, pairs: Int(from &- range.lowerBound)..<Int(to &- range.lowerBound),
                from: gain.value(at: from), to: gain.value(at: to))
            from = to
        }
    }
}
