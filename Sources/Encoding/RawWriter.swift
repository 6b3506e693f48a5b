import Libc
package import LibAV
package import MediaTypes
import Threading

/// Writes every canvas to a YUV4MPEG2 file, before any encoder: for tests that compare frames exactly, and for
/// archives.
///
/// Used by the program thread only. The file is large: 41 MB per second at 720p30.
package final class RawWriter {
    private let file: Int32
    private let path: String
    private let canvas: PictureFormat
    private var failed = false

    /// Creates the file and writes its header.
    ///
    /// - Throws: ``MediaError/Code/notCreatable``.
    package static func open(path: String, width: Int, height: Int, fps: Int) throws(MediaError) -> RawWriter {
        let file = Libc.open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        guard file >= 0 else {
            throw MediaError(
                .notCreatable, "cannot create \(path): errno \(errno)", at: "raw",
                fix: "give a path in a directory that exists and can be written")
        }
        let writer = RawWriter(file: file, path: path, canvas: .canvas(width: width, height: height))
        try writer.write(Array("YUV4MPEG2 W\(width) H\(height) F\(fps):1 Ip A1:1 C420jpeg XCOLORRANGE=LIMITED\n".utf8))
        return writer
    }

    private init(file: Int32, path: String, canvas: PictureFormat) {
        self.file = file
        self.path = path
        self.canvas = canvas
    }

    deinit { close(self.file) }

    /// Appends one frame.
    ///
    /// - Throws: ``MediaError/Code/outputLost`` once; later frames are dropped silently.
    package func write(_ picture: Picture) throws(MediaError) {
        guard !self.failed else { return }
        var bytes = Array("FRAME\n".utf8)
        for plane in 0..<3 {
            let width = plane == 0 ? self.canvas.width : self.canvas.width / 2
            let height = plane == 0 ? self.canvas.height : self.canvas.height / 2
            picture.withPlane(plane) { samples, stride in
                for row in 0..<height where row * stride + width <= samples.count {
                    bytes.append(contentsOf: samples[row * stride..<row * stride + width])
                }
            }
        }
        try self.write(bytes)
    }

    private func write(_ bytes: [UInt8]) throws(MediaError) {
        guard !FileWriting.write(bytes, to: self.file) else { return }
        self.failed = true
        throw MediaError(
            .outputLost, "cannot write \(self.path): errno \(errno)", at: "raw", fix: "free space on the disk")
    }
}
