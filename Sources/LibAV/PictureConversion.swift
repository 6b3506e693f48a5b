import CLibAV
package import MediaTypes

/// The conversion that a source's frames need before a scene can use them, as a libavfilter description. It is computed
/// from the frames' format, traits and orientation alone.
///
/// A scene's own scale filter converts BT.601 and full range in 8-bit 4:2:0 at almost no cost, because it resamples
/// those frames anyway. This conversion handles everything else, at the frames' own size: other bit depths and chroma
/// formats, other matrices and primaries, PQ and HLG, interlaced and rotated video.
package struct PictureConversion: Sendable, Hashable {
    /// libavfilter chain between input and output, without link labels.
    package var filters: String

    /// Makes the conversion for a format.
    ///
    /// - Parameters:
    ///   - deinterlaces: Whether interlaced frames have been seen.
    ///   - canToneMap: Whether libavfilter has zscale and tonemap.
    /// - Returns: `nil` if no conversion is needed.
    /// - Throws: ``MediaError/Code/unsupportedColor``.
    package static func make(
        _ format: PictureFormat, _ traits: PictureTraits, orientation: VideoOrientation, deinterlaces: Bool,
        canToneMap: Bool, place: String
    ) throws(MediaError) -> PictureConversion? {
        var filters: [String] = []
        // One output frame per input frame, so that 25 frames of 50 fields stay 25; progressive frames among them pass
        // unchanged.
        if deinterlaces, format.width >= 4, format.height >= 4 {
            filters.append("bwdif=mode=send_frame:deint=interlaced")
        }
        filters += self.turns(orientation)
        filters += try self.colors(format, traits, canToneMap: canToneMap, place: place)
        return filters.isEmpty ? nil : PictureConversion(filters: filters.joined(separator: ","))
    }

    private static func turns(_ orientation: VideoOrientation) -> [String] {
        let mirror = orientation.isMirrored ? ["hflip"] : []
        switch orientation.quarterTurns {
        case 1: return mirror + ["transpose=clock"]
        // hflip last: vflip alone outputs rows in reverse order without copying them.
        case 2: return mirror + ["vflip", "hflip"]
        case 3: return mirror + ["transpose=cclock"]
        default: return mirror
        }
    }

    private static let tags = "setparams=range=tv:colorspace=bt709:color_primaries=bt709:color_trc=bt709"

    private static func colors(
        _ format: PictureFormat, _ traits: PictureTraits, canToneMap: Bool, place: String
    ) throws(MediaError) -> [String] {
        let isWide =
            traits.primaries == AVCOL_PRI_BT2020.rawValue || format.matrix == AVCOL_SPC_BT2020_NCL.rawValue
            || format.matrix == AVCOL_SPC_BT2020_CL.rawValue
        if traits.isHDR {
            guard canToneMap else {
                throw self.refusal("are HDR (PQ or HLG), which this FFmpeg cannot convert", place)
            }
            return try self.toneMapped(format, traits, place)
        }
        if isWide, canToneMap {
            return try self.even(format) + [self.zscale(format, traits, place), "format=yuv420p", self.tags]
        }
        guard !format.isSceneReady else { return [] }
        guard let matrix = self.swscaleMatrix(format) else {
            throw self.refusal("have color matrix number \(format.matrix), which cannot be converted", place)
        }
        var scale =
            "scale=flags=bicubic+accurate_rnd:in_range=\(format.isFullRange ? "full" : "limited"):out_range=limited"
        if !format.isRGB { scale += ":in_color_matrix=\(matrix)" }
        return [scale + ":out_color_matrix=bt709", "format=yuv420p", self.tags]
    }

    private static func refusal(_ what: String, _ place: String) -> MediaError {
        MediaError(
            .unsupportedColor, "the frames \(what)", at: place,
            fix: "publish SDR in BT.709, or install an FFmpeg with zscale (libzimg) and tonemap")
    }

    private static func toneMapped(
        _ format: PictureFormat, _ traits: PictureTraits, _ place: String
    ) throws(MediaError) -> [String] {
        // 100 cd/m² is the white of SDR; hable keeps detail in brighter areas. In linear light, and therefore in
        // floating point.
        let linear = try self.zscale(format, traits, place, target: "t=linear:npl=100:p=bt709")
        return self.even(format) + [
            linear, "format=gbrpf32le", "tonemap=tonemap=hable:desat=0", "zscale=p=bt709:t=bt709:m=bt709:r=limited",
            "format=yuv420p", self.tags,
        ]
    }

    /// Returns a filter that crops odd sizes to even ones, because zimg does not accept odd sizes with subsampled
    /// chroma.
    private static func even(_ format: PictureFormat) -> [String] {
        let (width, height) = (format.width & ~1, format.height & ~1)
        return width == format.width && height == format.height ? [] : ["crop=\(width):\(height):0:0"]
    }

    private static func zscale(
        _ format: PictureFormat, _ traits: PictureTraits, _ place: String,
        target: String = "p=bt709:t=bt709:m=bt709:r=limited"
    ) throws(MediaError) -> String {
        var input = "rin=\(format.isFullRange ? "full" : "limited")"
        if !format.isRGB {
            switch AVColorSpace(format.matrix) {
            case AVCOL_SPC_BT2020_NCL, AVCOL_SPC_UNSPECIFIED: input += ":min=2020_ncl"
            case AVCOL_SPC_BT2020_CL: input += ":min=2020_cl"
            case AVCOL_SPC_BT709: input += ":min=709"
            case AVCOL_SPC_SMPTE170M, AVCOL_SPC_BT470BG, AVCOL_SPC_FCC: input += ":min=170m"
            default: throw self.refusal("have color matrix number \(format.matrix) with wide colors", place)
            }
        }
        switch AVColorTransferCharacteristic(traits.transfer) {
        case AVCOL_TRC_SMPTE2084: input += ":tin=smpte2084"
        case AVCOL_TRC_ARIB_STD_B67: input += ":tin=arib-std-b67"
        // BT.2020's transfer curve equals BT.709's.
        default: input += ":tin=709"
        }
        let isNarrow = traits.primaries == AVCOL_PRI_BT709.rawValue
        return "zscale=\(input):pin=\(isNarrow ? "709" : "2020"):\(target)"
    }

    /// Returns swscale's name of the color matrix; `nil` if swscale does not support the matrix. For values that do not
    /// name a matrix, the frame size decides between BT.601 and BT.709.
    private static func swscaleMatrix(_ format: PictureFormat) -> String? {
        switch AVColorSpace(format.matrix) {
        case AVCOL_SPC_BT2020_NCL, AVCOL_SPC_BT2020_CL: "bt2020"
        case AVCOL_SPC_SMPTE240M: "smpte240m"
        case AVCOL_SPC_YCGCO, AVCOL_SPC_SMPTE2085, AVCOL_SPC_CHROMA_DERIVED_NCL, AVCOL_SPC_CHROMA_DERIVED_CL,
            AVCOL_SPC_ICTCP:
            nil
        default: format.isBT601 ? "bt601" : "bt709"
        }
    }
}
