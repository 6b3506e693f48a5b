package import LibAV
import MediaTypes

/// One rendition of the ladder: its name in playlists and its encoder settings.
package struct EncodedRendition: Sendable, Hashable {
    package var name: String
    /// Encoder settings; their `fps` is the frame rate of the rendition, not of the canvas.
    package var settings: VideoEncoderSettings
    /// Number of canvases per frame of the rendition: 2 for a rendition at half the room's frame rate, which uses the
    /// even ticks. The room's GOP and part lengths are multiples of it.
    package var frameStep: Int
    /// Whether libx264 encodes the rendition if its hardware encoder does not open at the start. If a hardware encoder
    /// fails later, libx264 always continues.
    package var fallsBackAtStart = false

    package init(name: String, settings: VideoEncoderSettings, frameStep: Int = 1) {
        self.name = name
        self.settings = settings
        self.frameStep = max(1, frameStep)
    }

    /// The rendition with libx264 instead of a hardware encoder, with the parameter sets of the encoder on standby.
    var software: EncodedRendition {
        var rendition = self
        rendition.settings = self.settings.software
        return rendition
    }

    /// Whether the rendition has a frame at this tick.
    func takes(_ tick: Int64) -> Bool { tick % Int64(self.frameStep) == 0 }

    /// Returns the rendition's size for a canvas: if the canvas size differs from the room's, the declared size scaled
    /// in proportion, rounded down to even numbers, at least 2.
    func size(ofCanvas format: PictureFormat, declared: EncodingStage.Settings) -> (width: Int, height: Int) {
        func share(_ own: Int, of canvas: Int, _ declared: Int) -> Int {
            guard canvas != declared, declared > 0 else { return own }
            return max(2, Int(TimeMath.scale(Int64(own), by: Int64(canvas), over: Int64(declared))) & ~1)
        }
        return (
            share(self.settings.width, of: format.width, declared.width),
            share(self.settings.height, of: format.height, declared.height)
        )
    }
}

/// The libavfilter graph description that scales one canvas to every size of the ladder, computed from the sizes alone.
package struct LadderGraph: Sendable, Hashable {
    /// Label of the graph's input.
    package static let input = "canvas"
    package var text: String
    /// One label per rendition, in the ladder's order.
    package var outputs: [String]

    /// Scales each size from the next larger one, which costs less CPU time than scaling each from the canvas. Sizes that
    /// appear twice are scaled once.
    ///
    /// - Parameters:
    ///   - sizes: Width and height of each rendition; even.
    ///   - width: Width of the canvas.
    package init(sizes: [(width: Int, height: Int)], width: Int, height: Int) {
        self.outputs = sizes.indices.map { "r\($0)" }
        // Renditions from large to small; each is scaled from the result of the previous one.
        let order = sizes.indices.sorted { sizes[$0].width * sizes[$0].height > sizes[$1].width * sizes[$1].height }
        var parts: [String] = []
        var current = (label: Self.input, width: width, height: height)
        for (step, index) in order.enumerated() {
            let size = sizes[index]
            let same = size.width == current.width && size.height == current.height
            let filter = same ? "null" : "scale=\(size.width):\(size.height):flags=bicubic,setsar=1"
            guard step < order.count - 1 else {
                parts.append("[\(current.label)]\(filter)[r\(index)]")
                break
            }
            parts.append("[\(current.label)]\(filter),split=2[r\(index)][c\(step)]")
            current = ("c\(step)", size.width, size.height)
        }
        self.text = parts.joined(separator: ";")
    }
}
