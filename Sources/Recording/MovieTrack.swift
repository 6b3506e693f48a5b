import HLS
import MediaTypes

/// The sample tables of one track of an MP4 file, collected segment by segment. Spec: ISO/IEC 14496-12 §8.6, §8.7.
struct MovieTrack: Sendable {
    /// A run of consecutive samples with the same value.
    struct Run: Sendable, Hashable {
        var count: UInt32
        var value: Int64
    }

    /// The samples of one segment, a chunk of the MP4 file.
    struct Chunk: Sendable, Hashable {
        let samples: UInt32
        /// Index of the chunk's sample entry in ``MovieTrack/entries``.
        let entry: Int
        let byteCount: Int
        /// Index of the segment in the recording, used to interleave the tracks by time.
        let segmentIndex: Int
    }

    let kind: TrackKind
    let timescale: Int64
    /// The different sample entries of the track, each as a serialized box.
    private(set) var entries: [[UInt8]] = []
    private(set) var width: UInt16 = 0
    private(set) var height: UInt16 = 0
    private(set) var sizes: [UInt32] = []
    private(set) var durations: [Run] = []
    private(set) var offsets: [Run] = []
    /// Numbers of the sync samples, starting at 1.
    private(set) var syncSamples: [UInt32] = []
    private(set) var chunks: [Chunk] = []
    /// Decoding time of the first sample on the room's timeline, in ticks.
    private(set) var firstDecodeTime: Int64?
    private var nextDecodeTime: Int64 = 0

    init(_ head: TrackParameters) {
        self.kind = head.kind
        self.timescale = head.timescale
    }

    /// Duration in ticks, from the first sample's decoding time to the end of the last sample.
    var duration: Int64 { self.nextDecodeTime - (self.firstDecodeTime ?? self.nextDecodeTime) }

    /// Presentation time of the first sample on the room's timeline, in ticks.
    var firstTime: Int64 { (self.firstDecodeTime ?? 0) + self.leadIn }

    /// Presentation time minus decoding time of the first sample, in ticks; at least 0.
    var leadIn: Int64 { max(0, self.offsets.first?.value ?? 0) }

    /// Whether every sample is a sync sample.
    var isAllSync: Bool { self.syncSamples.count == self.sizes.count }

    /// Adds the samples of a segment.
    ///
    /// - Returns: False if the segment has another kind or timescale than the track; then nothing is changed.
    mutating func append(_ segment: SegmentSamples, head: TrackParameters, segmentIndex: Int) -> Bool {
        guard head.kind == self.kind, head.timescale == self.timescale else { return false }
        let entry: Int
        if let known = self.entries.firstIndex(of: head.entry) {
            entry = known
        } else {
            entry = self.entries.count
            self.entries.append(head.entry)
        }
        self.width = max(self.width, head.width)
        self.height = max(self.height, head.height)
        var count: UInt32 = 0
        var bytes = 0
        for fragment in segment.fragments {
            self.move(to: fragment.decodeTime)
            for sample in fragment.samples { self.append(sample) }
            count += UInt32(clamping: fragment.samples.count)
            bytes += fragment.data.count
        }
        if count > 0 {
            self.chunks.append(Chunk(samples: count, entry: entry, byteCount: bytes, segmentIndex: segmentIndex))
        }
        return true
    }

    private mutating func append(_ sample: SegmentSamples.Sample) {
        self.sizes.append(sample.size)
        if sample.isSync { self.syncSamples.append(UInt32(clamping: self.sizes.count)) }
        Self.extend(&self.durations, Int64(sample.duration))
        Self.extend(&self.offsets, Int64(sample.offset))
        self.nextDecodeTime += Int64(sample.duration)
    }

    /// Sets the decoding time of the next sample. A gap before it lengthens the previous sample: the video freezes, or
    /// the audio is silent, for as long as in the live stream.
    private mutating func move(to time: Int64) {
        guard self.firstDecodeTime != nil else {
            self.firstDecodeTime = time
            self.nextDecodeTime = time
            return
        }
        let distance = time - self.nextDecodeTime
        guard distance != 0, let last = self.durations.popLast() else { return }
        // An overlap shortens the sample, but leaves at least one tick.
        let change = max(distance, 1 - last.value)
        if last.count > 1 { self.durations.append(Run(count: last.count - 1, value: last.value)) }
        Self.extend(&self.durations, last.value + change)
        self.nextDecodeTime += change
    }

    private static func extend(_ runs: inout [Run], _ value: Int64) {
        if let last = runs.last, last.value == value {
            runs[runs.count - 1].count += 1
        } else {
            runs.append(Run(count: 1, value: value))
        }
    }
}
