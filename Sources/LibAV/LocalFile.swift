import CLibAV
import Libc
import MediaTypes

/// Opens files with libavformat so that nothing but the file itself is read.
///
/// libavformat recognizes formats by content. A playlist (HLS, DASH, IMF, concat, SDP) with the name of a song would make it
/// open the files and servers that the playlist names, so only formats that contain their media are allowed. A pipe can
/// block the caller for any time, so pipes are opened only on request, and devices never.
@safe
enum LocalFile {
    /// Formats of media files, as libavformat names them.
    static let media =
        "mov,matroska,webm,mpegts,flv,live_flv,ogg,mp3,aac,ac3,eac3,flac,wav,w64,aiff,caf,avi,asf,mpeg,mxf,nut,ivf,obu,av1,"
        + "h264,hevc,loas"
    /// Formats of images.
    static let images =
        "image2,png_pipe,apng,jpeg_pipe,jpegls_pipe,j2k_pipe,jpegxl_pipe,jpegxl_anim,webp_pipe,bmp_pipe,gif,gif_pipe,tiff_pipe,"
        + "mjpeg,ppm_pipe,pgm_pipe,pbm_pipe,pam_pipe,tga_pipe,qoi_pipe,exr_pipe,hdr_pipe,psd_pipe,ico"

    /// Formats of animations with transparency.
    static let animations = "mov,matroska,webm,apng"

    /// Opens a file as `avformat_open_input` does.
    ///
    /// - Parameters:
    ///   - formats: The formats that are allowed, with commas in between.
    ///   - allowsPipe: Whether the file may be a named pipe.
    /// - Returns: 0 or an `AVERROR` code: that of `EINVAL` for a format or a kind of file that is not allowed.
    static func open(
        _ context: inout UnsafeMutablePointer<AVFormatContext>?, _ path: String, formats: String,
        allowsPipe: Bool = false
    ) -> Int32 {
        var facts = stat()
        guard unsafe stat(path, &facts) == 0 else { return -errno }
        let kind = facts.st_mode & S_IFMT
        guard kind == S_IFREG || allowsPipe && kind == S_IFIFO else { return -EINVAL }
        var options: OpaquePointer?
        defer { unsafe av_dict_free(&options) }
        unsafe av_dict_set(&options, "protocol_whitelist", "file", 0)
        unsafe av_dict_set(&options, "format_whitelist", formats, 0)
        // A `%` or `*` in the path of an image is no pattern.
        unsafe av_dict_set(&options, "pattern_type", "none", 0)
        return unsafe avformat_open_input(&context, "file:\(path)", nil, &options)
    }
}
