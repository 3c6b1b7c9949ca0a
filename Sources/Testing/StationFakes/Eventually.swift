import DatagramPort
import Transport

/// Waits until `isDone`, which threads of the code under test bring about; gives up when they have had two minutes, which
/// is long on a machine whose threads are all busy with other tests.
package func eventually(_ isDone: () async -> Bool) async -> Bool {
    let end = MonotonicClock.now + .seconds(120)
    for look in 0..<1_000_000 where MonotonicClock.now < end {
        if await isDone() { return true }
        // At first it is a matter of microseconds.
        if look < 1_000 { await Task.yield() } else { try? await Task.sleep(for: .milliseconds(2)) }
    }
    return await isDone()
}
