import LibAV
import MediaTypes
import PipelineSpec
import Room
import Testing

@Suite("Warnings about parts that FFmpeg's libraries lack")
struct LibraryCheckTests {
    private static func problem(_ part: SpecChecks.LibraryPart, lacking names: Set<String>) -> SpecChecks.Problem? {
        RoomChecks.problem(
            ofLibrary: part, encoder: { !names.contains($0) }, decoder: { !names.contains($0.rawValue) },
            scheme: { !names.contains($0) }, filter: { !names.contains($0) })
    }

    @Test(
        "the report of a missing encoder names exit code 78, that of missing SRT suggests libsrt, that of a missing decoder names it"
    )
    func missing() {
        #expect(Self.problem(.encoder, lacking: ["libx264"])?.what.contains("exit with code 78") == true)
        let nvenc = Self.problem(.hardwareEncoder(.nvenc), lacking: ["h264_nvenc"])
        #expect(nvenc?.what.contains("h264_nvenc") == true && nvenc?.what.contains("exit with code 78") == true)
        #expect(Self.problem(.opusEncoder, lacking: ["libopus"])?.what.contains("exit with code 78") == true)
        #expect(Self.problem(.noiseModels, lacking: ["arnndn"])?.what.contains("arnndn") == true)
        #expect(Self.problem(.srt, lacking: ["srt"])?.fix.contains("libsrt") == true)
        #expect(Self.problem(.decoder(.av1), lacking: [CodecName.av1.rawValue])?.what.contains("av1") == true)
        #expect(Self.problem(.decoder(.pcm), lacking: [CodecName.pcmU8.rawValue])?.what.contains("pcm") == true)
    }

    @Test("no problem is reported for library parts that are there")
    func present() {
        for part in [SpecChecks.LibraryPart.encoder, .opusEncoder, .srt, .noiseModels, .decoder(.h264), .decoder(.pcm)]
        {
            #expect(Self.problem(part, lacking: ["other"]) == nil)
        }
    }

    @Test("FFmpeg in this process has libx264, libopus, decoders for H.264, AAC and MP3, and the file protocol")
    func here() {
        #expect(LibAV.hasEncoder("libx264") && LibAV.hasEncoder("libopus") && !LibAV.hasEncoder("libnone"))
        #expect(LibAV.hasDecoder(.h264) && LibAV.hasDecoder(.aac) && LibAV.hasDecoder(.mp3))
        #expect(LibAV.hasProtocol("file") && !LibAV.hasProtocol("none"))
    }
}
