import ICE
import Transport

/// The budget that all sessions of one principal on one shard share. It lives on its shard's thread only.
final class CheckAccount {
    var budget: CheckBudget

    /// - Parameter shards: How many shards the principal's budget is divided among.
    init(shards: Int) {
        budget = CheckBudget(parts: shards)
    }
}

extension RelayShard {
    /// A principal's account. It outlives the principal's sessions: a new session must not renew it.
    func checkAccount(of principal: String, at now: Instant) -> CheckAccount {
        if let account = checkAccounts[principal] { return account }
        // A full account is the same as no account.
        let isUsed = { (account: CheckAccount) in !account.budget.isFull(at: now) }
        let held = Set(sessions.map { ObjectIdentifier($0.checkAccount) })
        checkAccounts = checkAccounts.filter { isUsed($0.value) || held.contains(ObjectIdentifier($0.value)) }
        let account = CheckAccount(shards: links.count)
        checkAccounts[principal] = account
        return account
    }
}
