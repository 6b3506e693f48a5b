import CLibAV
import MediaTypes

/// Graphs of one input and one output whose filters may hold pictures back.
extension FilterGraph {
    /// Feeds one picture and returns what came out, which may be nothing, each with the time it went in with.
    ///
    /// - Parameter pts: In units of the graph's time base.
    /// - Throws: ``MediaError/Code/rejected`` when the format differs from the graph's or libavfilter fails.
    func stream(_ picture: Picture, pts: Int64) throws(MediaError) -> [Picture] {
        guard let input = self.inputs.first, input.format == picture.format, let source = unsafe self.sources.first
        else {
            throw MediaError(
                .rejected, "a picture of \(picture.format) for another graph", at: self.place, fix: "rebuild the graph")
        }
        let frame = try unsafe picture.makeReference()
        var spare: UnsafeMutablePointer<AVFrame>? = unsafe frame
        defer { unsafe av_frame_free(&spare) }
        unsafe frame.pointee.pts = pts
        let status = unsafe av_buffersrc_add_frame_flags(source, frame, 0)
        guard status >= 0 else {
            throw .libav(.rejected, "a picture was refused", status, at: self.place, fix: "rebuild the graph")
        }
        return self.ready()
    }

    /// Ends the input and returns what the filters still held. The graph takes no more.
    func streamEnd() -> [Picture] {
        guard let source = unsafe self.sources.first else { return [] }
        _ = unsafe av_buffersrc_add_frame_flags(source, nil, 0)
        return self.ready()
    }

    private func ready() -> [Picture] {
        guard let sink = unsafe self.sinks.first else { return [] }
        // A deinterlacer counts fields: its time base is half as long.
        let base = unsafe av_buffersink_get_time_base(sink)
        var pictures: [Picture] = []
        while let frame = unsafe av_frame_alloc() {
            guard unsafe av_buffersink_get_frame(sink, frame) >= 0 else {
                var spare: UnsafeMutablePointer<AVFrame>? = unsafe frame
                unsafe av_frame_free(&spare)
                break
            }
            unsafe frame.pointee.pts = av_rescale_q(
                frame.pointee.pts, base, AVRational(num: 1, den: self.ticksPerSecond))
            unsafe frame.pointee.pict_type = AV_PICTURE_TYPE_NONE
            unsafe frame.removeSideData()
            unsafe pictures.append(Picture(owning: frame))
        }
        return pictures
    }
}
