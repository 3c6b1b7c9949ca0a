import { openDialog } from "./dialog.js";
import { element } from "./dom.js";
import { shortcuts, wallActions } from "./shortcuts.js";
import { t } from "./text.js";

/**
 * Lists what the keys do.
 * @param {boolean} isWall
 */
export function openShortcuts(isWall) {
  const { body } = openDialog(t("shortcutDialog.shortcuts"), "shortcuts");
  const list = element("dl", "facts");
  for (const { action, shown, words } of shortcuts) {
    if (!isWall || wallActions.has(action)) list.append(element("dt", "", element("kbd", "", shown)), element("dd", "", words));
  }
  body.append(list);
}
