import ArgumentParser
import LibAV
import Logging
import MediaTypes
import Push
import Threading
import UnixSignals

struct PublishCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "publish",
        abstract: "Publish a file or a test pattern over RTMP in real time.",
        discussion: """
            A file is sent without re-encoding: H.264 with AAC, and HEVC, AV1, VP9, Opus and others with Enhanced RTMP.
            pattern:NAME is a moving test video with a visible frame counter and clock, and a flash with a beep every
            second.

                tandem publish pattern:ANNA rtmp://127.0.0.1:1935/live/a_7fd1
                tandem publish pattern:BEN --size 720x1280 --fps 30 \\
                  rtmp://127.0.0.1:1935/live/b_19c4
                tandem publish clip.mp4 --loop rtmp://127.0.0.1:1935/live/a_7fd1
            """)

    @Argument(help: "A media file, or pattern:NAME.")
    var input: String

    @Argument(help: "rtmp://HOST[:PORT]/APP/KEY")
    var url: String

    @Option(
        help: ArgumentHelp(
            "A file whose audio is sent as an additional audio track, such as a microphone; up to 3.", valueName: "file"
        ))
    var audioTrack: [String] = []

    @Flag(help: "Repeat the file until the command is stopped or --duration has passed.")
    var loop = false

    @Option(help: ArgumentHelp("Stop after this duration of media.", valueName: "seconds"))
    var duration: Double?

    @Option(help: ArgumentHelp("Size of the test pattern in pixels.", valueName: "WxH"))
    var size = "1280x720"

    @Option(help: ArgumentHelp("Frames per second of the test pattern, 1 to 60.", valueName: "n"))
    var fps = 30

    @Option(help: ArgumentHelp("Video bit rate of the test pattern.", valueName: "bit/s"))
    var bitrate = 2_048_000

    func run() async throws {
        LogOutput.bootstrap(.auto, level: .info)
        try ProcessStart.checkClient()
        LibAV.setNativeLogging(false)
        let (width, height) = try self.pictureSize()
        guard (1...60).contains(self.fps) else { throw ValidationError("--fps \(self.fps): give 1 to 60") }
        guard (50_000...50_000_000).contains(self.bitrate) else {
            throw ValidationError("--bitrate \(self.bitrate): give 50000 to 50000000 bits per second")
        }
        guard self.audioTrack.count <= 3 else { throw ValidationError("--audio-track: give up to 3") }
        let audioPaths = self.audioTrack
        var nanoseconds: Int64?
        if let duration = self.duration {
            guard let ms = Int64(exactly: (duration * 1000).rounded()), (1...2_592_000_000).contains(ms) else {
                throw ValidationError("--duration \(duration): give seconds from 0.001 to 2592000")
            }
            nanoseconds = ms * 1_000_000
        }
        let (input, loops, fps, bitrate, url, limit) = (
            self.input, self.loop, self.fps, self.bitrate, self.url, nanoseconds
        )
        let publisher = RTMPPublisher { event in
            switch event {
            case .connected: break
            case .publishing: StandardError.write("publishing \(input)\n")
            case .progress(let packets, let bytes, let behind):
                guard StandardError.isTerminal else { return }
                StandardError.write("\r\u{1b}[2K\(packets) packets, \(bytes / 1024) KiB, \(max(0, behind)) ms behind")
            }
        }
        let signals = Task {
            for await _ in await UnixSignalsSequence(trapping: .sigint, .sigterm) { publisher.stop() }
        }
        defer { signals.cancel() }
        let failure: RTMPPublisher.Failure? = await withCheckedContinuation { continuation in
            _ = StageThread("publish") {
                do throws(RTMPPublisher.Failure) {
                    try publisher.run(url: url, duration: limit) { () throws(MediaError) -> any PublishInput in
                        var main: any PublishInput
                        if input.hasPrefix("pattern:") {
                            let name = String(input.dropFirst("pattern:".count))
                            main = try PatternInput(
                                pattern: TestPattern(
                                    name: name.isEmpty ? "TEST" : name, width: width, height: height, fps: fps),
                                bitrate: bitrate)
                        } else {
                            main = try FileInput(path: input, loops: loops)
                        }
                        if audioPaths.isEmpty { return main }
                        var tracks: [any PublishInput] = []
                        for path in audioPaths { tracks.append(try FileInput(path: path, loops: loops)) }
                        return try CombinedInput(main, audio: tracks)
                    }
                    continuation.resume(returning: nil)
                } catch {
                    continuation.resume(returning: error)
                }
            }
        }
        if let failure { throw self.report(failure) }
    }

    private func pictureSize() throws -> (Int, Int) {
        let parts = self.size.split(separator: "x").compactMap { Int($0) }
        guard parts.count == 2, parts.allSatisfy({ (160...1920).contains($0) && $0.isMultiple(of: 2) }) else {
            throw ValidationError("--size \(self.size): write it as 1280x720, even numbers from 160 to 1920")
        }
        return (parts[0], parts[1])
    }

    private func report(_ failure: RTMPPublisher.Failure) -> ExitCode {
        switch failure {
        case .badURL(let url):
            StandardError.write("\(url) is not an RTMP address. Fix: write it as rtmp://host:1935/live/key\n")
            return ExitStatus.usage.code
        case .cannotConnect(let what):
            StandardError.write(
                "cannot connect to \(what). Fix: check that the room runs, and check host and port of the URL\n")
            return ExitStatus.unavailable.code
        case .refused(let code, let text):
            let remedy = RTMPPublisher.remedy(for: text).map { ". Fix: \($0)" } ?? ""
            let reason = text.hasSuffix(".") ? String(text.dropLast()) : text
            StandardError.write("the server refused: \(code) \(reason)\(remedy)\n")
            return ExitCode(77)
        case .connectionLost:
            StandardError.write("the server closed the connection. Fix: check the server's log for the reason\n")
            return ExitStatus.outputLost.code
        case .input(let error):
            StandardError.write("\(error)\n")
            return ExitStatus(error).code
        }
    }
}
