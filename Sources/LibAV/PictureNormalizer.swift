import CLibAV
package import MediaTypes

/// Turns one source's decoded pictures into pictures a scene takes cheaply. Stands behind the decoder, on its thread, so
/// that neither a filter that holds pictures back nor one that takes long is ever on the way of a tick.
///
/// One graph for each format of picture and each orientation. A stream that changes its format with every picture gets
/// ``burst`` graphs and then one for every ``spacing`` pictures; pictures in between that would need another are dropped.
///
/// Created, used and released by one thread at a time: deliberately not `Sendable`.
package final class PictureNormalizer {
    /// A graph takes about a millisecond to build, a picture as long to decode.
    static let burst = 4
    static let spacing = 8
    /// Ticks of the graph's time base; the picture's own pts is carried through it.
    private static let timescale = 1_000_000

    private struct Key: Equatable {
        var format: PictureFormat
        var transfer: UInt32
        var primaries: UInt32
        var orientation: PictureOrientation
        var deinterlaces: Bool
    }

    private let place: String
    private let canToneMap: Bool
    private var current: (key: Key, graph: FilterGraph?)?
    private var refused: (key: Key, error: MediaError)?
    private var credits = PictureNormalizer.burst
    private var received = 0
    /// Once two fields were seen, the deinterlacer stays: streams switch between fields and frames from picture to picture.
    private var deinterlaces = false
    /// Pictures dropped because the format changed too often.
    package private(set) var dropped = 0
    private var memoryLook = PoolLook(every: VideoDecoder.lookInterval)
    /// How often a graph was made anew because it kept memory that nobody needed.
    package private(set) var renewals = 0

    /// - Parameters:
    ///   - canToneMap: `false` refuses HDR, as with an FFmpeg that has no zscale.
    ///   - place: Names the stage in errors and logs.
    package init(
        canToneMap: Bool = LibAV.hasFilter("zscale") && LibAV.hasFilter("tonemap"), place: String
    ) {
        self.canToneMap = canToneMap
        self.place = place
    }

    /// Hands `body` the pictures that are ready, each with the pts it came with. A deinterlacer is one picture behind.
    ///
    /// - Parameters:
    ///   - orientation: How the picture is turned before it is shown.
    ///   - time: When its packet came, in nanoseconds; 0 where that has no meaning.
    /// - Throws: ``MediaError/Code/unsupportedColor``, ``MediaError/Code/rejected`` from libavfilter. The next picture may
    ///   be converted again.
    package func normalize(
        _ picture: Picture, orientation: PictureOrientation, at time: Int64 = 0, _ body: (Picture) -> Void
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
        // The next picture gets a graph without the memory of a burst.
        guard graph.isOversized(), !graph.holdsPictures else { return }
        self.current = nil
        self.renewals += 1
    }

    /// Hands out what filters still hold and forgets the format.
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

    /// - Returns: `false` when there were too many changes of late.
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
