import CLibAV
package import MediaTypes

/// Properties of a decoded frame besides its format, which must be handled before the frame can be used in a scene.
package struct PictureTraits: Sendable, Hashable {
    /// Raw values of `AVColorTransferCharacteristic` and `AVColorPrimaries`, as the stream signals them (2:
    /// unspecified).
    package var transfer: UInt32 = 2
    package var primaries: UInt32 = 2
    /// Whether the frame is interlaced: two fields, captured at different times.
    package var isInterlaced = false
    /// Whether the frame is a key frame, decoded without reference to another frame.
    package var isKey = false
    /// Whether the decoder concealed errors in the frame.
    package var isDamaged = false
    /// Rotation requested by the stream itself (a display orientation SEI message, H.264 §D.1.26); `nil` if there is
    /// none.
    package var orientation: VideoOrientation?

    package init() {}

    /// Whether the samples are on a high-dynamic-range curve: SMPTE ST 2084 (PQ) or ARIB STD-B67 (HLG).
    package var isHDR: Bool {
        self.transfer == AVCOL_TRC_SMPTE2084.rawValue || self.transfer == AVCOL_TRC_ARIB_STD_B67.rawValue
    }

    init(_ frame: UnsafeMutablePointer<AVFrame>) {
        unsafe self.transfer = frame.pointee.color_trc.rawValue
        unsafe self.primaries = frame.pointee.color_primaries.rawValue
        unsafe self.isInterlaced = clibav_is_interlaced(frame) != 0
        unsafe self.isKey = clibav_is_key(frame) != 0
        unsafe self.isDamaged =
            frame.pointee.flags & Int32(CLIBAV_FRAME_FLAG_CORRUPT) != 0 || frame.pointee.decode_error_flags != 0
        if let data = unsafe av_frame_get_side_data(frame, AV_FRAME_DATA_DISPLAYMATRIX) {
            let matrix = unsafe Self.numbers(data.pointee.data, data.pointee.size)
            self.orientation = VideoOrientation(displayMatrix: matrix)
        }
    }

    /// Returns the nine 32-bit numbers of a display matrix, as libav stores it; empty if there are fewer bytes.
    static func numbers(_ data: UnsafePointer<UInt8>?, _ size: Int) -> [Int32] {
        guard let data = unsafe data, size >= 36 else { return [] }
        // Checked: nine numbers of four bytes lie inside `size`.
        let raw = unsafe UnsafeRawPointer(data)
        return (0..<9).map { unsafe raw.loadUnaligned(fromByteOffset: $0 * 4, as: Int32.self) }
    }
}
