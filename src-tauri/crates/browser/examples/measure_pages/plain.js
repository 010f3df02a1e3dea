// What a program would send that needs nothing but name, role and bounds of what is in view.
JSON.stringify([...document.querySelectorAll('a[href],button,input,select,textarea,summary,[role],[tabindex],[onclick],[contenteditable]')]
.filter(e=>{const b=e.getBoundingClientRect();return b.width&&b.height&&b.bottom>0&&b.right>0&&b.top<innerHeight&&b.left<innerWidth&&e.checkVisibility({visibilityProperty:true})})
.map((e,i)=>{const b=e.getBoundingClientRect();return{i,role:e.getAttribute('role')||e.localName,name:(e.getAttribute('aria-label')||e.innerText||e.value||'').trim().slice(0,200),value:e.value||'',href:e.href||'',disabled:!!e.disabled,checked:!!e.checked,focused:e===document.activeElement,x:b.x,y:b.y,width:b.width,height:b.height}}))
