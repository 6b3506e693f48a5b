/// The programs to compare with that are installed on this machine.
struct Peers {
    /// `work/floor`, compiled by `run.sh`.
    var floor: String?
    /// A current FFmpeg with libvmaf: `NEW_FFMPEG`, or the one from PyPI's `imageio-ffmpeg`, installed by `run.sh`.
    var newFFmpeg: String?
    var hasGStreamer: Bool

    static func find(work: String) -> Peers {
        var new = Variables["NEW_FFMPEG"]
        let libraries = "\(work)/venv/lib"
        for python in Files.names(in: libraries) {
            let binaries = "\(libraries)/\(python)/site-packages/imageio_ffmpeg/binaries"
            if let name = Files.names(in: binaries).first(where: { $0.hasPrefix("ffmpeg-") }) {
                new = new ?? "\(binaries)/\(name)"
            }
        }
        let floor = "\(work)/floor"
        let elements = ["compositor", "x264enc", "avdec_h264", "avenc_aac", "mp4mux"]
        return Peers(
            floor: Files.exists(floor) ? floor : nil, newFFmpeg: new,
            hasGStreamer: elements.allSatisfy { Self.succeeds(["gst-inspect-1.0", "--exists", $0]) })
    }

    static func succeeds(_ command: [String]) -> Bool {
        (try? ChildProcess.run(command, output: "/dev/null"))?.status == 0
    }

    /// Prints a line for each missing program, so that a smaller comparison is noticed.
    func sayMissing(isFull: Bool) {
        if self.floor == nil { Terminal.say("SKIPPED: the floor: benchmarks/floor could not be compiled") }
        if self.newFFmpeg == nil {
            Terminal.say("SKIPPED: current FFmpeg and VMAF: imageio-ffmpeg could not be installed from PyPI")
        }
        if isFull, !self.hasGStreamer {
            Terminal.say("SKIPPED: GStreamer: compositor, x264enc or avdec_h264 is not installed")
        }
    }
}
