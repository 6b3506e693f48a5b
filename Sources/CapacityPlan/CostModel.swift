import MediaTypes
package import PipelineSpec

/// Estimates the cost of a pipeline: a pure function of the pipeline and of the cost coefficients of a machine.
///
/// Sources without ``Pipeline/Source/expected`` are assumed to have 720p at 30 frames per second and 2 Mbit/s. Savings
/// by passthrough are not included.
package struct CostModel: Sendable {
    package var coefficients: CostCoefficients
    /// Number of viewers at the room's own listener; each plays the highest video rendition.
    package var viewers: Int

    package init(_ coefficients: CostCoefficients = .reference, viewers: Int = 0) {
        self.coefficients = coefficients
        self.viewers = max(0, viewers)
    }

    /// Returns the estimated resources of a room with this pipeline.
    package func cost(of pipeline: Pipeline) -> RoomCost {
        var cost = RoomCost()
        cost.machine = self.coefficients.machine
        cost.viewers = self.viewers
        self.addTraffic(of: pipeline, to: &cost)
        let scene = self.dearestScene(of: pipeline)
        cost.stages = [
            RoomCost.Stage("decode", scene.decode), RoomCost.Stage("compose", scene.compose),
            RoomCost.Stage("scale", self.scale(pipeline.videoRenditions, pipeline)),
        ]
        cost.stages += pipeline.videoRenditions.map {
            RoomCost.Stage("encode[\($0.name)]", self.encode($0))
        }
        cost.notes = pipeline.videoRenditions.filter(\.video.encoder.isHardware).map {
            "the cost of \($0.video.encoder.rawValue) is unknown: \($0.name) counts as encoded by libx264, which replaces it if it fails"
        }
        let watched = pipeline.videoRenditions.filter { $0.when == .watched }
        cost.sleepNanoseconds = watched.reduce(self.scale(watched, pipeline)) { Self.sum($0, self.encode($1)) }
        if !watched.isEmpty, watched.count == pipeline.videoRenditions.count, pipeline.raws.isEmpty {
            // Nothing shows the canvas, so only key frames are decoded.
            let keys = pipeline.sources.reduce(Int64(0)) { Self.sum($0, self.decode($1) / Self.keyFrameShare) }
            cost.sleepNanoseconds = Self.sum(cost.sleepNanoseconds, max(0, scene.decode - keys))
        }
        let heard = pipeline.sources.reduce(Int64(0)) { sum, source in
            Self.sum(sum, self.coefficients.audioPerSecond + self.coefficients.processingPerSecond(source.audio))
        }
        let coded = Int64(pipeline.audioRenditions.count) * self.coefficients.aacPerSecond
        // Opus for WebRTC viewers, which is encoded only while somebody watches; not measured, assumed to cost as much.
        let opus = pipeline.webRTCOutput == nil ? 0 : self.coefficients.aacPerSecond
        cost.stages.append(RoomCost.Stage("sound", Self.sum(heard, coded + opus)))
        let moved = Self.megabits(
            cost.ingressBitsPerSecond + cost.egressBitsPerSecond + cost.writtenBytesPerHour / 3600 * 8)
        cost.stages.append(
            RoomCost.Stage(
                "room",
                Self.sum(
                    self.coefficients.roomPerSecond,
                    TimeMath.scale(moved, by: self.coefficients.networkPerMegabit, over: 1000, rounding: .down))))
        cost.memoryBytes = Self.memory(of: pipeline, viewers: self.viewers)
        Self.addOutputs(of: pipeline, to: &cost)
        return cost
    }

    // MARK: Video

    /// Returns the cost of the most expensive scene. Of the sources that a scene does not show, only key frames are
    /// counted, as if they were at most two seconds apart. A room that has only audio decodes and composes nothing.
    private func dearestScene(of pipeline: Pipeline) -> (decode: Int64, compose: Int64) {
        var dearest: (decode: Int64, compose: Int64) = (0, 0)
        if pipeline.isAudioOnly { return dearest }
        let live = pipeline.sources.filter { $0.id.streamType == .main && !$0.background }.map(\.id.uid)
        for scene in pipeline.scenes {
            let panes = scene.resolvedPanes(canvas: pipeline.canvas, live: live).filter { $0.pane.videoPush }
            let shown = Set(panes.map { $0.pane.source })
            let decode = pipeline.sources.reduce(Int64(0)) { sum, source in
                let whole = self.decode(source)
                return Self.sum(sum, shown.contains(source.id) ? whole : whole / Self.keyFrameShare)
            }
            let compose = self.compose(scene, panes, pipeline)
            if Self.sum(decode, compose) > Self.sum(dearest.decode, dearest.compose) { dearest = (decode, compose) }
        }
        return dearest
    }

    /// The cost of decoding all frames of a source, divided by that of only its key frames: a key frame every second or two,
    /// which costs more than other frames, and the parsing of the skipped bits.
    private static let keyFrameShare: Int64 = 12

    private func decode(_ source: Pipeline.Source) -> Int64 {
        let stream = Self.stream(of: source)
        return Self.sum(
            Self.part(stream.pixelsPerSecond, self.coefficients.decodePerMegapixel),
            Self.part(stream.videoBitrate, self.coefficients.decodePerMegabit))
    }

    private func compose(_ scene: Scene, _ panes: [PlacedPane], _ pipeline: Pipeline) -> Int64 {
        let size = scene.size(on: pipeline.canvas)
        let fps = Int64(pipeline.canvas.fps)
        let canvas = Int64(size.width) * Int64(size.height)
        let scaled = panes.reduce(Int64(0)) { sum, placed in
            sum + Self.scaledPixels(placed, Self.stream(of: pipeline.source(placed.pane.source)))
        }
        let drawn = scene.texts.count + scene.scoreBars.count + scene.countdowns.count
        let images = (scene.bgImages ?? pipeline.canvas.bgImages).count + scene.images.count + pipeline.watermarks.count
        // Overlays are blended over the part of the canvas that they cover; a quarter of the canvas is a generous
        // estimate.
        let decorated = canvas * Int64(drawn + images) / 4
        return Self.sum(
            Self.part(scaled * fps, self.coefficients.scalePerMegapixel),
            Self.part((canvas + decorated) * fps, self.coefficients.composePerMegapixel))
    }

    /// Returns the number of pixels that are scaled to fill a pane; 0 if the frame already has the right size, or is
    /// only cropped or padded.
    private static func scaledPixels(_ placed: PlacedPane, _ stream: Stream) -> Int64 {
        let (width, height) = (Int64(placed.rect.width), Int64(placed.rect.height))
        guard stream.width > 0, stream.height > 0 else { return 0 }
        let isExact: Bool =
            switch placed.pane.adaption {
            case .stretch: stream.width == width && stream.height == height
            case .cropFill:
                stream.width == width && stream.height >= height || stream.height == height && stream.width >= width
            case .fit:
                stream.width == width && stream.height <= height || stream.height == height && stream.width <= width
            }
        return isExact ? 0 : width * height
    }

    private func scale(_ renditions: [Rendition], _ pipeline: Pipeline) -> Int64 {
        let pixels = renditions.reduce(Int64(0)) { sum, rendition in
            let isCanvas = rendition.width == pipeline.canvas.width && rendition.height == pipeline.canvas.height
            return isCanvas ? sum : sum + Self.pixels(rendition)
        }
        return Self.part(pixels, self.coefficients.scalePerMegapixel)
    }

    private func encode(_ rendition: Rendition) -> Int64 {
        Self.sum(
            Self.part(Self.pixels(rendition), self.coefficients.encodePerMegapixel(rendition.video)),
            Self.part(Int64(rendition.video.bitrate), self.coefficients.encodePerMegabit))
    }

    /// Returns the number of pixels that a rendition has per second.
    static func pixels(_ rendition: Rendition) -> Int64 {
        Int64(rendition.width) * Int64(rendition.height) * Int64(rendition.fps)
    }

    // MARK: Units

    /// Returns the cost of `units` if a million units cost `price`.
    static func part(_ units: Int64, _ price: Int64) -> Int64 { TimeMath.scale(units, by: price, over: 1_000_000) }

    /// Adds with saturation: coefficients come from a file, and the number of viewers from a flag.
    static func sum(_ one: Int64, _ other: Int64) -> Int64 {
        let (sum, isTooMuch) = one.addingReportingOverflow(other)
        return isTooMuch ? .max : sum
    }

    /// Multiplies with saturation.
    static func product(_ one: Int64, _ other: Int64) -> Int64 { TimeMath.scale(one, by: other, over: 1) }

    /// Converts bits to thousandths of a megabit.
    static func megabits(_ bits: Int64) -> Int64 { bits / 1000 }

    /// The stream that a publisher is expected to send.
    struct Stream {
        var width: Int64
        var height: Int64
        var fps: Int64
        var videoBitrate: Int64
        var audioBitrate: Int64

        var pixelsPerSecond: Int64 { self.width * self.height * self.fps }
    }

    static func stream(of source: Pipeline.Source?) -> Stream {
        let expected = source?.expected ?? Pipeline.Expected()
        return Stream(
            width: Int64(expected.width), height: Int64(expected.height), fps: Int64(expected.fps),
            videoBitrate: Int64(expected.videoBitrate), audioBitrate: Int64(expected.audioBitrate))
    }
}
