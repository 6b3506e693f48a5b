import DequeModule
import LibAV
import MediaKernels
package import MediaTypes
import Threading

/// Suppresses the noise of one audio track. Every block comes out with the samples of the same moment and with the position
/// that it came in with, later by the time that the filter needs (``mostLate``).
///
/// A change of the filter is a cross-fade between the old and the new filter, both at the same sample, so it makes neither a
/// click nor a gap nor a shift against the video. Created and used on the thread of one source.
///
/// Samples are counted from the first that came in; this number is called the *index* of a sample pair.
package final class NoiseSuppressor {
    /// Called with each block in order: interleaved stereo, the position it came with, and whether the source's timestamps had
    /// been mapped anew before it.
    package typealias Output = (_ samples: [Float], _ position: Int64, _ isRemapped: Bool) -> Void

    /// How noise is suppressed.
    package enum Kind: Sendable, Hashable {
        /// ``NoiseReducer`` suppresses the noise: it lowers steady noise.
        case fft
        /// ``NoiseFilter`` suppresses the noise, with the model in this file.
        case model(path: String)
    }

    /// Longest time by which a block comes out later than it came in, in nanoseconds, if no block is longer than this: two blocks,
    /// or one that is longer than the filter's window. The longest usual blocks are those of HE-AAC at 44.1 kHz, 46.4 ms.
    /// Blocks that are longer than this come out one block later.
    package static let mostLate: Int64 = 47_000_000
    /// Length of a cross-fade in pairs: 20 ms.
    private static let fade: Int64 = 960
    /// Number of pairs that a new filter processes before it is heard, 50 ms: its first window is incomplete.
    private static let warmUp: Int64 = 2_400

    /// A block that came in and has not come out yet.
    private struct Block {
        var position: Int64
        /// Index after the block's last pair.
        var end: Int64
        var isRemapped: Bool
    }

    private enum Filter {
        case reducer(NoiseReducer)
        case model(NoiseFilter)

        init(_ kind: Kind, place: String) throws(MediaError) {
            switch kind {
            case .fft: self = .reducer(NoiseReducer())
            case .model(let path):
                try Self.check(path, place: place)
                self = .model(try NoiseFilter.open(model: path, place: place))
            }
        }

        /// Checks the model file again: it may have been replaced since the pipeline was checked.
        private static func check(_ path: String, place: String) throws(MediaError) {
            let problem: String?
            do throws(FileReading.Failure) {
                problem = NoiseModel.problem(in: try FileReading.regular(path, limit: NoiseModel.mostBytes))
            } catch {
                problem = error.text
            }
            guard let problem else { return }
            throw MediaError(
                .rejected, "the model \(path) \(problem)", at: place,
                fix: "restore the file, or write \"noiseSuppression\": \"fft\"")
        }

        /// Number of pairs by which the output is late.
        var delay: Int64 {
            switch self {
            case .reducer: Int64(NoiseReducer.latencyPairs)
            case .model: Int64(NoiseFilter.delay)
            }
        }

        func process(_ samples: [Float], into output: inout [Float]) throws(MediaError) {
            switch self {
            case .reducer(let reducer): reducer.process(samples, into: &output)
            case .model(let filter): try filter.process(samples, into: &output)
            }
        }
    }

    /// One way from input to output: through a filter, or unchanged.
    private struct Path {
        let kind: Kind?
        /// `nil` for the unchanged way, and for a filter that has failed.
        var filter: Filter?
        /// Output of the filter that was not used yet.
        var samples: [Float] = []
        /// Index of the first pair of `samples`.
        var start: Int64

        /// Creates the way that leaves the audio unchanged.
        init(from index: Int64) {
            self.kind = nil
            self.start = index
        }

        init(_ kind: Kind?, from index: Int64, place: String) throws(MediaError) {
            self.kind = kind
            self.start = index
            if let kind {
                let filter = try Filter(kind, place: place)
                self.filter = filter
                // The pairs that the filter outputs first belong to no input.
                self.start = index &- filter.delay
            }
        }

        /// Index after the last pair of `samples`.
        var end: Int64 { self.start &+ Int64(self.samples.count / 2) }

        mutating func feed(_ samples: [Float]) throws(MediaError) {
            guard let filter = self.filter else {
                self.samples += samples
                return
            }
            try filter.process(samples, into: &self.samples)
        }

        /// Goes on without the filter, with silence for what it held, up to `index`.
        mutating func fail(at index: Int64) {
            self.filter = nil
            if index > self.end { self.samples += repeatElement(0, count: Int(index &- self.end) * 2) }
        }

        mutating func drop(before index: Int64) {
            let pairs = min(self.samples.count / 2, max(0, Int(index &- self.start)))
            self.samples.removeFirst(pairs * 2)
            self.start &+= Int64(pairs)
        }

        /// Adds the pairs with the indexes of `range` to `target`, whose first pair has the index `block.lowerBound`, with a
        /// gain that changes linearly.
        func add(_ range: Range<Int64>, of block: Range<Int64>, onto target: inout [Float], from: Float, to: Float) {
            let offset = Int(block.lowerBound &- self.start)
            guard offset >= 0, !range.isEmpty else { return }
            let length = Float(range.count)
            for pair in 0..<range.count {
                let at = Int(range.lowerBound &- block.lowerBound) + pair
                let gain = from + (to - from) * Float(pair) / length
                guard (offset + at) * 2 + 1 < self.samples.count, at * 2 + 1 < target.count else { return }
                target[at * 2] += self.samples[(offset + at) * 2] * gain
                target[at * 2 + 1] += self.samples[(offset + at) * 2 + 1] * gain
            }
        }
    }

    private let place: String
    private var wanted: Kind?
    private var path: Path
    /// The way that replaces ``path``, and the index at which the cross-fade to it begins.
    private var next: (path: Path, from: Int64)?
    private var blocks = Deque<Block>()
    private var received: Int64 = 0
    private var sent: Int64 = 0
    private var output: [Float] = []
    /// The kind that could not be opened or has failed. It is not tried again until another kind was chosen.
    private var failed: Kind?
    private var failure: MediaError?

    /// Creates a suppressor that changes nothing until ``choose(_:)``.
    ///
    /// - Parameters:
    ///   - kind: A filter that is heard from the first sample on, without a cross-fade; `nil`: none.
    ///   - place: Names the stage in errors.
    package init(_ kind: Kind? = nil, place: String) {
        self.place = place
        self.wanted = kind
        do throws(MediaError) {
            self.path = try Path(kind, from: 0, place: place)
        } catch {
            self.path = Path(from: 0)
            (self.failed, self.failure) = (kind, error)
        }
    }

    /// Whether nothing is filtered, now and with the next block.
    package var isIdle: Bool {
        self.wanted == nil && self.path.kind == nil && self.next == nil && self.blocks.isEmpty
    }

    /// Whether a filter is heard, or will be after the change that has begun.
    package var isActive: Bool { (self.next?.path ?? self.path).filter != nil }

    /// Sets the filter that the next block begins to change to.
    ///
    /// - Parameter kind: `nil`: the audio is not changed.
    package func choose(_ kind: Kind?) {
        if kind != self.failed { self.failed = nil }
        self.wanted = kind
    }

    /// Returns the reason why a filter could not be opened or has failed, once.
    package func takeFailure() -> MediaError? {
        defer { self.failure = nil }
        return self.failure
    }

    /// Takes a block in, and passes the blocks that are ready to `body`.
    ///
    /// - Parameters:
    ///   - samples: Interleaved stereo of 48 kHz.
    ///   - position: Position of its first pair, which comes out unchanged.
    ///   - isRemapped: See ``Output``.
    package func process(_ samples: [Float], at position: Int64, isRemapped: Bool, _ body: Output) {
        let pairs = Int64(samples.count / 2)
        guard pairs > 0 else { return }
        self.change()
        self.received &+= pairs
        self.blocks.append(Block(position: position, end: self.received, isRemapped: isRemapped))
        self.feed(samples)
        self.hand(to: body)
    }

    /// Passes the blocks that the filter still holds to `body`, at the end of a publication. The suppressor cannot be used any
    /// more.
    package func finish(_ body: Output) {
        let silence = [Float](repeating: 0, count: 2 * 480)
        // More than a window, which no filter holds.
        for _ in 0..<4 where !self.blocks.isEmpty {
            self.feed(silence)
            self.hand(to: body)
        }
        self.blocks.removeAll()
    }

    // MARK: Changes

    /// Begins the change to the filter that is wanted, unless an earlier change has not ended.
    private func change() {
        guard self.next == nil, self.wanted != self.path.kind, self.wanted == nil || self.wanted != self.failed else {
            return
        }
        do throws(MediaError) {
            let path = try Path(self.wanted, from: self.received, place: self.place)
            self.next = (path, self.received &+ (self.wanted == nil ? 0 : Self.warmUp))
        } catch {
            (self.failed, self.failure) = (self.wanted, error)
        }
    }

    private func feed(_ samples: [Float]) {
        do throws(MediaError) {
            try self.path.feed(samples)
        } catch {
            (self.failed, self.failure) = (self.path.kind, error)
            self.path.fail(at: self.received)
        }
        guard self.next != nil else { return }
        do throws(MediaError) {
            try self.next?.path.feed(samples)
        } catch {
            (self.failed, self.failure) = (self.next?.path.kind, error)
            self.next = nil
        }
    }

    // MARK: Output

    private func isReady(until end: Int64) -> Bool {
        guard self.path.end >= end else { return false }
        return self.next.map { $0.from >= end || $0.path.end >= end } ?? true
    }

    private func hand(to body: Output) {
        while let block = self.blocks.first, self.isReady(until: block.end) {
            self.blocks.removeFirst()
            self.render(self.sent..<block.end)
            self.sent = block.end
            body(self.output, block.position, block.isRemapped)
            if let next = self.next, self.sent >= next.from &+ Self.fade {
                self.path = next.path
                self.next = nil
            }
        }
        self.path.drop(before: self.sent)
        self.next?.path.drop(before: self.sent)
    }

    /// Writes the pairs with the indexes of `range` to ``output``.
    private func render(_ range: Range<Int64>) {
        self.output.removeAll(keepingCapacity: true)
        self.output.append(contentsOf: repeatElement(0, count: range.count * 2))
        guard let (next, from) = self.next else {
            self.path.add(range, of: range, onto: &self.output, from: 1, to: 1)
            AudioMix.sanitize(&self.output)
            return
        }
        let begin = min(range.upperBound, max(range.lowerBound, from))
        let end = min(range.upperBound, max(range.lowerBound, from &+ Self.fade))
        func gain(_ index: Int64) -> Float { Float(index &- from) / Float(Self.fade) }
        self.path.add(range.lowerBound..<begin, of: range, onto: &self.output, from: 1, to: 1)
        if begin < end {
            self.path.add(begin..<end, of: range, onto: &self.output, from: 1 - gain(begin), to: 1 - gain(end))
            next.add(begin..<end, of: range, onto: &self.output, from: gain(begin), to: gain(end))
        }
        next.add(end..<range.upperBound, of: range, onto: &self.output, from: 1, to: 1)
        AudioMix.sanitize(&self.output)
    }
}
