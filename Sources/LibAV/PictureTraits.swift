import CLibAV
package import MediaTypes

/// What a decoder says of a picture beyond the shape and meaning of its samples: what must be undone before it can stand
/// in a scene.
package struct PictureTraits: Sendable, Hashable {
    /// `AVColorTransferCharacteristic` and `AVColorPrimaries` numbers as signalled (2 means unspecified).
    package var transfer: UInt32 = 2
    package var primaries: UInt32 = 2
    /// Two fields, taken at two times.
    package var isInterlaced = false
    /// A picture that needs no other one.
    package var isKey = false
    /// The decoder had to guess parts of it.
    package var isDamaged = false
    /// How the stream itself (a display orientation SEI message, H.264 §D.1.26) wants it turned; `nil` when it does not say.
    package var orientation: PictureOrientation?

    package init() {}

    /// Whether the samples are on a high-dynamic-range curve: SMPTE ST 2084 (PQ) or ARIB STD-B67 (HLG).
    package var isHDR: Bool {
        self.transfer == AVCOL_TRC_SMPTE2084.rawValue || self.transfer == AVCOL_TRC_ARIB_STD_B67.rawValue
    }

    init(_ frame: UnsafeMutablePointer<AVFrame>) {
        unsafe self.transfer = frame.pointee.color_trc.rawValue
        unsafe self.primaries = frame.pointee.color_primaries.rawValue
        unsafe self.isInterlaced = frame.pointee.interlaced_frame != 0
        unsafe self.isKey = frame.pointee.key_frame != 0
        unsafe self.isDamaged =
            frame.pointee.flags & Int32(CLIBAV_FRAME_FLAG_CORRUPT) != 0 || frame.pointee.decode_error_flags != 0
        if let data = unsafe av_frame_get_side_data(frame, AV_FRAME_DATA_DISPLAYMATRIX) {
            let matrix = unsafe Self.numbers(data.pointee.data, data.pointee.size)
            self.orientation = PictureOrientation(displayMatrix: matrix)
        }
    }

    /// Native 32-bit numbers of a display matrix, as libav keeps it.
    static func numbers(_ data: UnsafePointer<UInt8>?, _ size: Int) -> [Int32] {
        guard let data = unsafe data, size >= 36 else { return [] }
        // Checked: nine numbers of four bytes lie inside `size`.
        let raw = unsafe UnsafeRawPointer(data)
        return (0..<9).map { unsafe raw.loadUnaligned(fromByteOffset: $0 * 4, as: Int32.self) }
    }
}
