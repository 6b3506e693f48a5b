package import NIOCore
import NIOPosix

/// Checks a store's files periodically, on a thread other than the event loops, and reports the results.
package final class CertificateWatch: Sendable {
    package let store: CertificateStore
    private let loop: any EventLoop
    private let report: @Sendable (CertificateStore.CheckResult) -> Void
    private let task: RepeatedTask

    /// Starts to check the files of a store.
    ///
    /// - Parameters:
    ///   - loop: Event loop of the timer.
    ///   - pace: Time between two checks; a check costs two stat(2) calls.
    ///   - report: Called for every result except ``CertificateStore/CheckResult/unchanged``, on a thread of NIO's pool or on
    ///     the one that called ``reload()``.
    package init(
        _ store: CertificateStore, on loop: any EventLoop, every pace: TimeAmount = .seconds(1),
        report: @escaping @Sendable (CertificateStore.CheckResult) -> Void
    ) {
        self.store = store
        self.loop = loop
        self.report = report
        self.task = loop.scheduleRepeatedAsyncTask(initialDelay: pace, delay: pace) { _ in
            NIOThreadPool.singleton.runIfActive(eventLoop: loop) { Self.tell(store.check(), report) }
        }
    }

    /// Loads the files now, even if they have not changed. Blocks until the pair is in use or refused.
    package func reload() { Self.tell(self.store.reload(), self.report) }

    package func stop() { self.task.cancel() }

    private static func tell(_ look: CertificateStore.CheckResult, _ report: (CertificateStore.CheckResult) -> Void) {
        if look != .unchanged { report(look) }
    }
}
