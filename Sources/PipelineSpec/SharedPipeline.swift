/// A pipeline that is shared instead of copied, for readers that are called many times per second: a copy of a ``Pipeline``
/// retains each of its reference-counted members.
package final class SharedPipeline: Sendable {
    package let pipeline: Pipeline

    package init(_ pipeline: Pipeline) { self.pipeline = pipeline }
}
