package import MediaTypes

/// Encodes single frames as JPEG files. Each call opens its own encoder: meant for one image every few seconds. Use a
/// ``JPEGWriter`` for more.
package enum JPEGEncoder {
    /// Scales and encodes a frame.
    ///
    /// - Parameters:
    ///   - width: In pixels, like `height`; limited to 16…4096 and rounded down to an even number.
    /// - Throws: ``MediaError/Code/rejected``, ``MediaError/Code/unavailable``, ``MediaError/Code/outOfMemory``.
    package static func jpeg(_ picture: Picture, width: Int, height: Int) throws(MediaError) -> [UInt8] {
        try JPEGWriter.open(picture.format, width: width, height: height).jpeg(picture)
    }
}
