import LibAV
package import MediaTypes
package import PipelineSpec
import RoomSources

extension RoomChecks {
    /// Why a codec or protocol of the pipeline does not work with the FFmpeg libraries of this process; nil if it
    /// works.
    ///
    /// - Parameters:
    ///   - encoder: Returns whether the libraries have an encoder of this name.
    ///   - decoder: Returns whether the libraries have a decoder for this codec.
    ///   - scheme: Returns whether the libraries have a protocol of this name.
    ///   - filter: Returns whether the libraries have a filter of this name.
    package static func problem(
        ofLibrary part: SpecChecks.LibraryPart, encoder: (String) -> Bool = LibAV.hasEncoder,
        decoder: (CodecName) -> Bool = LibAV.hasDecoder, scheme: (String) -> Bool = LibAV.hasProtocol,
        filter: (String) -> Bool = LibAV.hasFilter
    ) -> SpecChecks.Problem? {
        switch part {
        case .encoder:
            if encoder("libx264") { return nil }
            return SpecChecks.Problem(
                "this FFmpeg has no libx264, so the worker would exit with code 78",
                fix: "install an FFmpeg built with libx264 (Debian's is)")
        case .hardwareEncoder(let hardware):
            if encoder(hardware.rawValue) { return nil }
            return SpecChecks.Problem(
                "this FFmpeg has no \(hardware.rawValue), so the worker would exit with code 78 without encoderFallback",
                fix: "install an FFmpeg built with \(hardware.rawValue) (Debian's is), or write libx264")
        case .opusEncoder:
            if encoder("libopus") { return nil }
            return SpecChecks.Problem(
                "this FFmpeg has no libopus, so the worker would exit with code 78",
                fix: "install an FFmpeg built with libopus (Debian's is), or remove the webrtc output")
        case .decoder(let codec):
            if Pipeline.Ingest.names([codec]).allSatisfy(decoder) { return nil }
            return SpecChecks.Problem(
                "this FFmpeg has no decoder for \(codec.rawValue), so media with this codec is not decoded",
                fix: "install an FFmpeg with that decoder, or remove \(codec.rawValue)")
        case .noiseModels:
            if filter(NoiseFilter.name) { return nil }
            return SpecChecks.Problem(
                "this FFmpeg has no filter \(NoiseFilter.name), so the source's noise is not suppressed",
                fix: "install an FFmpeg that has it (Debian's does), or write fft")
        case .srt:
            if scheme("srt") { return nil }
            return SpecChecks.Problem(
                "this FFmpeg has no SRT support, so SRT sources cannot be received",
                fix: "install an FFmpeg built with libsrt (Debian's is), or use RTMP")
        }
    }
}
