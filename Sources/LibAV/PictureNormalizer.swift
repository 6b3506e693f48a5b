import CLibAV
package import MediaTypes

/// Converts one source's decoded frames into frames that a scene can use cheaply. Runs after the decoder, on its
/// thread, so that filters that delay frames or take long never delay a tick.
///
/// It has one graph for the current format and orientation. A stream that changes its format with every frame gets
/// ``burst`` graphs and then one per ``spacing`` frames; frames in between that would need another graph are dropped.
///
/// Created, used and released by one thread at a time: deliberately not `Sendable`.
package final class PictureNormalizer {
    /// Number of graphs that may be built in a row.
    static let burst = 4
    /// Number of frames after which one more graph is allowed, up to ``burst``.
    static let spacing = 8
    /// Ticks per second of the graph's time base; a frame's own pts is carried through it.
    private static let timescale = 1_000_000

    private struct Key: Equatable {
        var format: PictureFormat
        var transfer: UInt32
        var primaries: UInt32
        var orientation: VideoOrientation
        var deinterlaces: Bool
    }

    private let place: String
    private let canToneMap: Bool
    private var current: (key: Key, graph: FilterGraph?)?
    private var refused: (key: Key, error: MediaError)?
    private var credits = PictureNormalizer.burst
    private var received = 0
    /// Whether an interlaced frame was seen. The deinterlacer then stays, because streams switch between interlaced and
    /// progressive frames at any time.
    private var deinterlaces = false
    /// Number of frames dropped because the format changed too often.
    package private(set) var dropped = 0
    private var memoryLook = PoolCheckTimer(every: VideoDecoder.lookInterval)
    /// Number of times a graph was rebuilt because it kept unused memory.
    package private(set) var renewals = 0

    /// Creates a normalizer without a graph.
    ///
    /// - Parameters:
    ///   - canToneMap: Whether HDR is converted; if `false`, HDR is rejected, as with an FFmpeg without zscale.
    ///   - place: Names the stage in errors and logs.
    package init(
        canToneMap: Bool = LibAV.hasFilter("zscale") && LibAV.hasFilter("tonemap"), place: String
    ) {
        self.canToneMap = canToneMap
        self.place = place
    }

    /// Converts a frame and passes the frames that are ready to `body`, each with its own pts. A deinterlacer delays by
    /// one frame.
    ///
    /// - Parameters:
    ///   - orientation: How the frame is rotated before it is shown.
    ///   - time: Arrival time of its packet, in nanoseconds; 0 if it has no meaning.
    /// - Throws: ``MediaError/Code/unsupportedColor``, or ``MediaError/Code/rejected`` from libavfilter. A later frame
    ///   may be converted again.
    package func normalize(
        _ picture: Picture, orientation: VideoOrientation, at time: Int64 = 0, _ body: (Picture) -> Void
    ) throws(MediaError) {
        self.refill()
        if picture.traits.isInterlaced { self.deinterlaces = true }
        let key = Key(
            format: picture.format, transfer: picture.traits.transfer, primaries: picture.traits.primaries,
            orientation: orientation, deinterlaces: self.deinterlaces)
        if self.current?.key != key {
            if let refused = self.refused, refused.key == key { throw refused.error }
            self.drain(body)
            guard try self.build(key, picture) else { return }
        }
        guard let graph = self.current?.graph else {
            body(picture)
            return
        }
        try graph.stream(picture, pts: picture.pts ?? 0, body)
        guard self.memoryLook.isDue(at: time) else { return }
        // The next frame gets a new graph, without the memory of a burst.
        guard graph.isOversized(), !graph.holdsPictures else { return }
        self.current = nil
        self.renewals += 1
    }

    /// Outputs the frames that the filters still hold, and releases the graph.
    package func finish(_ body: (Picture) -> Void) {
        self.drain(body)
        self.deinterlaces = false
    }

    private func drain(_ body: (Picture) -> Void) {
        if let graph = self.current?.graph, graph.holdsPictures {
            graph.streamEnd(body)
        }
        self.current = nil
    }

    private func refill() {
        self.received += 1
        guard self.received >= Self.spacing else { return }
        self.received = 0
        self.credits = min(Self.burst, self.credits + 1)
    }

    /// Builds the graph for a new format, or none if no conversion is needed.
    ///
    /// - Returns: `false` if the format changed too often recently.
    private func build(_ key: Key, _ picture: Picture) throws(MediaError) -> Bool {
        let conversion: PictureConversion?
        do {
            conversion = try PictureConversion.make(
                key.format, picture.traits, orientation: key.orientation, deinterlaces: key.deinterlaces,
                canToneMap: self.canToneMap, place: self.place)
        } catch {
            self.refused = (key, error)
            throw error
        }
        guard let conversion else {
            self.current = (key, nil)
            return true
        }
        guard self.credits > 0 else {
            self.dropped += 1
            return false
        }
        self.credits -= 1
        do {
            let graph = try FilterGraph.open(
                "[in]\(conversion.filters)[out]", inputs: [FilterGraph.Input(label: "in", format: key.format)],
                outputs: ["out"], fps: Self.timescale, place: self.place)
            graph.holdsPictures = key.deinterlaces
            self.current = (key, graph)
        } catch {
            self.refused = (key, error)
            throw error
        }
        return true
    }
}
