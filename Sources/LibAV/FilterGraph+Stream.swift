import CLibAV
import MediaTypes

/// Graphs of one input and one output whose filters may hold pictures back.
extension FilterGraph {
    /// Feeds one picture and hands what came out, which may be nothing, to `body`, each with the time it went in with.
    ///
    /// - Parameter pts: In units of the graph's time base.
    /// - Throws: ``MediaError/Code/rejected`` when the format differs from the graph's or libavfilter fails.
    func stream(_ picture: Picture, pts: Int64, _ body: (Picture) -> Void) throws(MediaError) {
        guard let input = self.inputs.first, input.format == picture.format, let source = unsafe self.sources.first
        else {
            throw MediaError(
                .rejected, "a picture of \(picture.format) for another graph", at: self.place, fix: "rebuild the graph")
        }
        self.pool.collect()
        let frame = try unsafe picture.makeReference()
        var spare: UnsafeMutablePointer<AVFrame>? = unsafe frame
        defer { unsafe av_frame_free(&spare) }
        unsafe frame.pointee.pts = pts
        let status = unsafe av_buffersrc_add_frame_flags(source, frame, 0)
        guard status >= 0 else {
            throw .libav(.rejected, "a picture was refused", status, at: self.place, fix: "rebuild the graph")
        }
        self.hand(to: body)
    }

    /// Ends the input and hands out what the filters still held. The graph takes no more.
    func streamEnd(_ body: (Picture) -> Void) {
        guard let source = unsafe self.sources.first else { return }
        _ = unsafe av_buffersrc_add_frame_flags(source, nil, 0)
        self.hand(to: body)
    }

    private func hand(to body: (Picture) -> Void) {
        guard let sink = unsafe self.sinks.first else { return }
        // A deinterlacer counts fields: its time base is half as long.
        let base = unsafe av_buffersink_get_time_base(sink)
        let frame = unsafe self.pool.frame
        while unsafe av_buffersink_get_frame(sink, frame) >= 0 {
            unsafe frame.pointee.pts = av_rescale_q(
                frame.pointee.pts, base, AVRational(num: 1, den: self.ticksPerSecond))
            unsafe frame.pointee.pict_type = AV_PICTURE_TYPE_NONE
            unsafe frame.removeSideData()
            guard let picture = self.pool.picture() else { return }
            body(picture)
        }
    }
}
