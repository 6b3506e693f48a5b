import CLibAV
import MediaTypes

/// Graphs with one input and one output whose filters may delay frames.
extension FilterGraph {
    /// Feeds one frame and passes the output frames, possibly none, to `body`, each with the pts of its input frame.
    ///
    /// - Parameter pts: In units of the graph's time base.
    /// - Throws: ``MediaError/Code/rejected`` if the format differs from the graph's or libavfilter fails.
    func stream(_ picture: Picture, pts: Int64, _ body: (Picture) -> Void) throws(MediaError) {
        guard let input = self.inputs.first, input.format == picture.format, let source = unsafe self.sources.first
        else {
            throw MediaError(
                .rejected, "the graph was built for another format than \(picture.format)", at: self.place,
                fix: "report this error with the log")
        }
        self.pool.collect()
        let frame = try unsafe picture.makeReference()
        var spare: UnsafeMutablePointer<AVFrame>? = unsafe frame
        defer { unsafe av_frame_free(&spare) }
        unsafe frame.pointee.pts = pts
        let status = unsafe av_buffersrc_add_frame_flags(source, frame, 0)
        guard status >= 0 else {
            throw .libav(.rejected, "a frame was rejected", status, at: self.place, fix: "publish the source again")
        }
        self.hand(to: body)
    }

    /// Ends the input and outputs the frames that the filters still hold. The graph accepts no more input.
    func streamEnd(_ body: (Picture) -> Void) {
        guard let source = unsafe self.sources.first else { return }
        _ = unsafe av_buffersrc_add_frame_flags(source, nil, 0)
        self.hand(to: body)
    }

    private func hand(to body: (Picture) -> Void) {
        guard let sink = unsafe self.sinks.first else { return }
        // A deinterlacer counts fields, so its time base is half as long.
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
