import MediaTypes

/// Requirements that a publisher's stream must meet to replace a rendition's own stream (passthrough).
package struct PassthroughTarget: Sendable, Hashable {
    /// Index of the rendition.
    package var track: Int
    package var width: Int
    package var height: Int
    /// Profile and level (`profile_idc`, `level_idc`) in the rendition's own parameter set.
    package var profile: UInt8
    package var level: UInt8
    /// Average and peak bit rate in bits per second, and buffer size in bits, as the rendition declares them.
    package var bitrate: Int64
    package var maxBitrate: Int64
    package var bufferSize: Int64
    /// Whether the rendition is sent to WebRTC viewers: then the stream must have no B-frames, and a key frame at least
    /// every ``longestWait``.
    package var isForWebRTC = false

    package init(
        track: Int, width: Int, height: Int, profile: UInt8, level: UInt8, bitrate: Int64, maxBitrate: Int64,
        bufferSize: Int64
    ) {
        self.track = track
        self.width = width
        self.height = height
        self.profile = profile
        self.level = level
        self.bitrate = bitrate
        self.maxBitrate = maxBitrate
        self.bufferSize = bufferSize
    }

    /// Bit rate, maximum and buffer size as one value.
    var rates: BitRates {
        get { BitRates(bitrate: self.bitrate, maxBitrate: self.maxBitrate, bufferSize: self.bufferSize) }
        set {
            (self.bitrate, self.maxBitrate, self.bufferSize) = (
                newValue.bitrate, newValue.maxBitrate, newValue.bufferSize
            )
        }
    }

    /// Baseline, main and high profile, in this order: a decoder for one of them can also decode those before it. Spec:
    /// H.264 Annex A.2.
    private static let profiles: [UInt8] = [66, 77, 100]
    /// Limit of the stream's average bit rate, in thousandths of the declared one: for passthrough to begin (`joining`)
    /// and to continue (`staying`). `AVERAGE-BANDWIDTH` has that margin, and rate control is never exact.
    private static let tolerance: (joining: Int64, staying: Int64) = (1_030, 1_100)

    /// Maximum time between key frames for WebRTC viewers, in milliseconds: a viewer that joins or has lost a packet waits
    /// for the next one.
    package static let longestWait: Int64 = 2_200

    /// Returns why the stream cannot replace the rendition; `nil` if it can.
    ///
    /// - Parameters:
    ///   - limit: Length of a segment in ticks; `nil`: the distance of the key frames is not checked.
    ///   - isJoining: Whether the stream is not passed through yet.
    package func refusal(
        of stream: PassthroughStream, limit: Int64?, isJoining: Bool
    ) -> PassthroughCause? {
        guard let parameters = stream.parameters, !stream.isEnded else { return .lost }
        if let misfit = self.misfit(of: stream, parameters) { return misfit }
        if let fps = stream.measuredFps, (fps - stream.fps * 1_000).magnitude > UInt64(stream.fps * 20) {
            return .frameRate
        }
        if self.isForWebRTC, stream.hasBFrames { return .bFrames }
        if let limit, let longest = stream.longestGop, longest > self.longestGop(limit: limit, fps: stream.fps) {
            return .keyInterval
        }
        let share = isJoining ? Self.tolerance.joining : Self.tolerance.staying
        if let average = stream.averageBitrate, average > self.bitrate * share / 1_000 { return .bitrate }
        if stream.excess(over: self.maxBitrate) > self.bufferSize { return .bitrate }
        return nil
    }

    /// Returns the largest allowed distance of key frames in ticks.
    ///
    /// - Parameter limit: Length of a segment in ticks.
    func longestGop(limit: Int64, fps: Int64) -> Int64 {
        self.isForWebRTC ? min(limit, fps * Self.longestWait / 1_000) : limit
    }

    /// Returns why the stream's configuration prevents passthrough, whatever its packets are; `nil` if it does not.
    func misfit(of stream: PassthroughStream, _ parameters: CodecParameters) -> PassthroughCause? {
        guard parameters.codec == .h264, let sequence = stream.sequence, parameters.configuration.count > 8,
            parameters.configuration[4] & 3 == 3
        else { return .codec }
        guard sequence.width == self.width, sequence.height == self.height, parameters.orientation == .upright else {
            return .size
        }
        guard sequence.chromaFormat == 1, sequence.lumaBitDepth == 8, sequence.chromaBitDepth == 8,
            sequence.framesOnly
        else { return .format }
        guard let wanted = Self.profiles.firstIndex(of: self.profile),
            let given = Self.profiles.firstIndex(of: sequence.profile), given <= wanted
        else { return .profile }
        guard sequence.level <= self.level else { return .level }
        return nil
    }
}
