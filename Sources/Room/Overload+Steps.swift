package import PipelineSpec

extension Overload {
    /// What a room can leave out, in the order in which it does; a step that would leave nothing out is none of them.
    ///
    /// - Parameter renditions: The renditions with a cheaper encoder by their places in the ladder, the dearest first.
    package static func steps(for pipeline: Pipeline, renditions: [Int]) -> [Step] {
        // Stills, those in sheets too, and raw pictures: what no player waits for.
        let hasOptionalOutputs = !pipeline.raws.isEmpty || !pipeline.images.isEmpty
        return [.decoding] + (hasOptionalOutputs ? [.outputs] : []) + renditions.map { .encoder($0) }
            + [.halfPictures, .hold]
    }
}
