import HLS
import LibAV
import MediaTypes

/// A hardware encoder with libx264 on standby: when the hardware encoder fails, libx264 continues the stream with the
/// first frame that has no packet yet.
///
/// Every frame is kept until its packet is output, so that the packets have no gap. The initialization segment contains
/// the parameter sets of both encoders from the beginning, so that it need not change in the middle of a segment. The
/// hardware encoder is not used again.
///
/// A hardware encoder counts as failed if a call fails or takes too long, if a packet is missing or out of order, if the
/// packet of a requested IDR frame is not an IDR frame, or if more than ``mostInside`` frames wait for their packets.
final class StandbyEncoder: FrameEncoder {
    /// The change to libx264.
    struct Change {
        var error: MediaError
        /// Time in ticks of 1/fps from which libx264 encodes: the presentation time of its first frame, unless frames
        /// were lost before the encoder.
        var pts: Int64
        /// libx264's parameter sets in Annex B form.
        var parameters: CodecParameters
        var initialization: CodecParameters
    }

    private struct Frame {
        var picture: Picture
        var pts: Int64
        var isIDR: Bool
        var isP: Bool
    }

    private let encoders: LadderEncoders
    private let place: String
    private let settings: VideoEncoderSettings
    private let softwareSets: [UInt8]
    /// The parameter sets of both encoders as an `avcC` record, for initialization segments.
    let initialization: CodecParameters
    private let changed: (Change) -> Void
    private var encoder: any FrameEncoder
    /// Frames inside the hardware encoder, in order.
    private var inside: [Frame] = []
    private var fault: MediaError?
    /// Whether libx264 has replaced the hardware encoder.
    private(set) var isSoftware = false

    /// Largest number of frames inside a hardware encoder: its lookahead, and a few for its pipeline.
    private var mostInside: Int { self.settings.lookaheadFrames + 8 }

    var parameterSets: [UInt8] { self.encoder.parameterSets }

    private init(
        _ encoder: any FrameEncoder, _ settings: VideoEncoderSettings, _ encoders: LadderEncoders,
        softwareSets: [UInt8], initialization: CodecParameters, place: String, changed: @escaping (Change) -> Void
    ) {
        (self.encoder, self.settings, self.encoders) = (encoder, settings, encoders)
        (self.softwareSets, self.initialization, self.place) = (softwareSets, initialization, place)
        self.changed = changed
    }

    /// Opens the hardware encoder. Opens libx264 too, to learn its parameter sets, and closes it again.
    ///
    /// - Parameters:
    ///   - before: The rendition's encoder so far: if it has the same settings, libx264 is not opened.
    ///   - limits: Longest times of the hardware encoder's calls.
    ///   - changed: Called when libx264 takes over, before its first packet.
    /// - Throws: The error of either encoder; ``MediaError/Code/unavailable`` if no initialization segment can contain
    ///   the parameter sets of both.
    static func open(
        _ settings: VideoEncoderSettings, after before: StandbyEncoder? = nil, by encoders: LadderEncoders,
        limits: DeadlineEncoder.Limits, place: String, changed: @escaping (Change) -> Void
    ) throws(MediaError) -> StandbyEncoder {
        let softwareSets =
            if let before, before.settings == settings { before.softwareSets } else {
                try encoders.video(settings.software, place).parameterSets
            }
        let encoder = try DeadlineEncoder.open(settings, by: encoders, limits: limits, place: place)
        guard let hardware = AVCConfiguration(extradata: encoder.parameterSets),
            let software = AVCConfiguration(extradata: softwareSets),
            let both = hardware.joined(with: software) ?? software.joined(with: hardware)
        else {
            throw MediaError(
                .unavailable,
                "the parameter sets of \(settings.implementation.rawValue) and libx264 do not fit one initialization segment",
                at: place, fix: "write \"encoder\": \"libx264\", or another profile")
        }
        return StandbyEncoder(
            encoder, settings, encoders, softwareSets: softwareSets,
            initialization: CodecParameters(codec: .h264, configuration: both.record), place: place, changed: changed)
    }

    /// Parameter sets of the libx264 encoder on standby, in Annex B form.
    var softwareParameters: CodecParameters { CodecParameters(codec: .h264, configuration: self.softwareSets) }

    func encode(
        _ picture: Picture, pts: Int64, forceIDR: Bool, forceP: Bool, _ body: (CodedPacket) -> Void
    ) throws(MediaError) {
        if self.isSoftware {
            return try self.encoder.encode(picture, pts: pts, forceIDR: forceIDR, forceP: forceP, body)
        }
        self.inside.append(Frame(picture: picture, pts: pts, isIDR: forceIDR, isP: forceP))
        do throws(MediaError) {
            try self.encoder.encode(picture, pts: pts, forceIDR: forceIDR, forceP: false) { self.accept($0, body) }
            if self.inside.count > self.mostInside {
                self.fault = self.fault ?? self.failure("\(self.inside.count) frames have no packet yet")
            }
            if let fault = self.fault { throw fault }
        } catch {
            try self.fallBack(because: error, at: self.inside.first?.pts ?? pts &+ 1, body)
        }
    }

    func finish(_ body: (CodedPacket) -> Void) throws(MediaError) {
        if self.isSoftware { return try self.encoder.finish(body) }
        do throws(MediaError) {
            try self.encoder.finish { self.accept($0, body) }
            if !self.inside.isEmpty {
                self.fault = self.fault ?? self.failure("\(self.inside.count) frames have no packet at the end")
            }
            if let fault = self.fault { throw fault }
        } catch {
            guard let first = self.inside.first else { return }
            try self.fallBack(because: error, at: first.pts, body)
            try self.encoder.finish(body)
        }
    }

    /// Passes on a packet of the hardware encoder if it belongs to the oldest frame inside; otherwise the encoder has
    /// failed, and its further packets are discarded.
    private func accept(_ packet: CodedPacket, _ body: (CodedPacket) -> Void) {
        guard self.fault == nil else { return }
        guard let oldest = self.inside.first, packet.pts == oldest.pts &* VideoEncoder.ticksPerPicture else {
            self.fault = self.failure("a packet is missing or out of order")
            return
        }
        guard packet.isKey || !oldest.isIDR else {
            self.fault = self.failure("a requested key frame is missing")
            return
        }
        self.inside.removeFirst()
        body(packet)
    }

    /// Replaces the hardware encoder by libx264, which encodes the frames inside it, beginning with an IDR frame.
    ///
    /// The change is reported even if no frame is inside, because another encoder may get the next frame.
    private func fallBack(
        because error: MediaError, at pts: Int64, _ body: (CodedPacket) -> Void
    ) throws(MediaError) {
        let software = try self.encoders.video(self.settings.software, self.place)
        guard software.parameterSets == self.softwareSets else {
            throw MediaError(
                .internal, "libx264's parameter sets have changed", at: self.place,
                fix: "report this error with the log")
        }
        let frames = self.inside
        self.inside = []
        self.encoder = software
        self.isSoftware = true
        self.changed(
            Change(error: error, pts: pts, parameters: self.softwareParameters, initialization: self.initialization))
        for (index, frame) in frames.enumerated() {
            try software.encode(
                frame.picture, pts: frame.pts, forceIDR: index == 0 || frame.isIDR, forceP: frame.isP, body)
        }
    }

    private func failure(_ what: String) -> MediaError {
        MediaError(
            .rejected, "\(self.settings.implementation.rawValue): \(what)", at: self.place,
            fix: "look at the GPU's kernel log, then restart the room")
    }
}
