package import NIOCore
import NIOPosix

/// Looks at a store's files again and again, away from the event loops, and says what it finds.
package final class CertificateWatch: Sendable {
    package let store: CertificateStore
    private let loop: any EventLoop
    private let report: @Sendable (CertificateStore.Look) -> Void
    private let task: RepeatedTask

    /// - Parameters:
    ///   - loop: Whose clock counts.
    ///   - pace: Time between two looks; a look costs two stat(2).
    ///   - report: Called for each look but those that found nothing new, from a thread of NIO's pool or that of ``reload()``.
    package init(
        _ store: CertificateStore, on loop: any EventLoop, every pace: TimeAmount = .seconds(1),
        report: @escaping @Sendable (CertificateStore.Look) -> Void
    ) {
        self.store = store
        self.loop = loop
        self.report = report
        self.task = loop.scheduleRepeatedAsyncTask(initialDelay: pace, delay: pace) { _ in
            NIOThreadPool.singleton.runIfActive(eventLoop: loop) { Self.tell(store.look(), report) }
        }
    }

    /// Takes the files' pair now, changed or not. Blocks until it is taken or refused.
    package func reload() { Self.tell(self.store.reload(), self.report) }

    package func stop() { self.task.cancel() }

    private static func tell(_ look: CertificateStore.Look, _ report: (CertificateStore.Look) -> Void) {
        if look != .unchanged { report(look) }
    }
}
